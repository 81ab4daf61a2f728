import InwardFetching
import InwardTesting
import InwardTransfers
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What loaders and savers do with a server that answers each question for a part with another part, for ever.
struct HostileServerTests {
    private let saver = InMemoryDataSaver()

    /// A server whose parts have as many bytes as it is told for their offset, of a total that it is told.
    private func server(
        partByteCount: @escaping @Sendable (Int) -> Int,
        total: @escaping @Sendable (Int) -> String = { _ in "*" }
    ) -> RecordingDataFetcher {
        RecordingDataFetcher(
            StubDataFetcher { (request) async throws(FetchError) in
                guard request.method == .get else { return DataResponse(status: 204) }
                if request.url.path().hasSuffix(".inward-state") { return DataResponse(body: Data(Self.note)) }
                let range = (request.headerFields[.range] ?? "").dropFirst("bytes=".count).split(separator: "-")
                let offset = range.first.flatMap { Int($0) } ?? 0
                let count = partByteCount(offset)
                let fields: HeaderFields = [
                    HeaderField(.contentRange, "bytes \(offset)-\(offset + max(1, count) - 1)/\(total(offset))"),
                    HeaderField(.etag, "\"1\""),
                ]
                return DataResponse(status: 206, headerFields: fields, body: Data(repeating: 7, count: count))
            }
        )
    }

    /// A note of an earlier run that never was: of the most bytes that a note may claim.
    private static var note: [UInt8] {
        SavedPart(source: "a", validator: "b", steps: [], loadedByteCount: 1 << 60, savedByteCount: 1 << 60).note
    }

    private func failure(
        _ server: any DataFetcher,
        chunkByteCount: Int = 1_024,
        _ limits: TransferLimits = TransferLimits(minimumChunkByteCount: 512)
    ) async throws -> DataLoaderError? {
        let url = try URL.example("data")
        let loader = FetchingDataLoader(url: url, chunkByteCount: chunkByteCount, dataFetcher: server)
        let error = await #expect(throws: TransferDataError.self) {
            try await TransferData(from: loader, to: saver, limits: limits)()
        }
        #expect(saver.saved == nil)
        switch error {
        case .unreadable(let cause), .limitExceeded(let cause): return cause
        default:
            Issue.record("It was \(String(describing: error)).")
            return nil
        }
    }

    @Test func partsOfOneByteWithoutATotalAreRefusedAfterAFew() async throws {
        let server = server(partByteCount: { _ in 1 })
        #expect(try await failure(server)?.explanation.contains("TransferLimits.minimumChunkByteCount") == true)
        #expect(server.requests.count == 1_002)
    }

    @Test func wholePartsWithoutEndAreRefusedAtTheLimit() async throws {
        let server = server(partByteCount: { _ in 1_024 })
        let error = try await failure(server, TransferLimits(maximumByteCount: 10_240))
        #expect(error?.explanation.contains("TransferLimits.maximumByteCount allows. Raise that limit") == true)
        #expect(server.requests.count == 11)
    }

    @Test func aTotalThatGrowsWithEachPartIsRefused() async throws {
        let server = server(partByteCount: { _ in 1_024 }, total: { "\($0 + 4_096)" })
        #expect(
            try await failure(server)?.explanation.contains("said that it has 4096 bytes, and then that it has") == true
        )
        #expect(server.requests.count == 2)
    }

    @Test func aTotalThatShrinksIsRefused() async throws {
        let server = server(partByteCount: { _ in 1_024 }, total: { "\(8_192 - $0)" })
        #expect(try await failure(server)?.explanation.contains("and then that it has 7168") == true)
        #expect(server.requests.count == 2)
    }

    @Test func emptyPartsAreRefused() async throws {
        let server = server(partByteCount: { _ in 0 })
        #expect(try await failure(server)?.explanation == "was answered with another part than was asked for")
        #expect(server.requests.count == 1)
    }

    @Test func aPartLargerThanWasAskedForIsRefused() async throws {
        let server = server(partByteCount: { _ in 1_025 }, total: { _ in "2000" })
        #expect(try await failure(server)?.explanation == "was answered with another part than was asked for")
    }

    @Test func anAnswerThatIsTooLargeNamesItsLimit() async throws {
        let url = try URL.example("data")
        let server = StubDataFetcher(DataResponse(body: Data(count: 11)))
        let loader = FetchingDataLoader(url: url, chunkByteCount: 1, wholeByteLimit: 10, dataFetcher: server)
        let error = await #expect(throws: DataLoaderError.self) { try await loader.chunk(at: 0, of: nil) }
        #expect(error?.explanation.contains("Raise the loader's `wholeByteLimit`") == true)
    }

    /// The server claims that an earlier run put a huge part there, and gives it without an end.
    @Test func aPartThatIsLargerThanTheLimitIsNotReadBack() async throws {
        let server = server(partByteCount: { _ in 1_024 })
        let saver = PuttingDataSaver(url: try .example("target"), chunkByteCount: 1_024, dataFetcher: server)
        let draft = try await saver.openDraft()
        #expect(draft.saved == nil)
        #expect(server.requests.map(\.url.lastPathComponent) == ["target.inward-state"])
    }

    @Test func aPartThatComesByteByByteIsGivenUp() async throws {
        let server = server(partByteCount: { _ in 1 })
        let limits = TransferLimits(maximumByteCount: 1 << 60)
        let saver = PuttingDataSaver(url: try .example("target"), limits: limits, dataFetcher: server)
        let error = await #expect(throws: DataSaverError.self) { try await saver.openDraft() }
        #expect(error?.explanation.contains("TransferLimits.minimumChunkByteCount") == true)
        #expect(server.requests.count == 1 + 1_001)
    }

    @Test func whatIsReadBackIsLimited() async throws {
        let server = server(partByteCount: { _ in 1 })
        let saver = PuttingDataSaver(url: try .example("target"), dataFetcher: server)
        let error = await #expect(throws: DataSaverError.self) {
            try await saver.save([UInt8](repeating: 7, count: 4_096))
        }
        #expect(
            error?.explanation.contains("TransferLimits.minimumChunkByteCount (1024) allows. Lower that limit") == true
        )
        #expect(server.requests.count == 1 + 1_001)
    }

    /// What was sent for a source that passes a limit would only take up room.
    @Test func whatWasSentIsRemovedWhenTheSourceIsGivenUp() async throws {
        let target = InMemoryWebDataFetcher()
        let saver = PuttingDataSaver(url: try .example("target"), chunkByteCount: 1_024, dataFetcher: target)
        let loader = FetchingDataLoader(
            url: try .example("data"),
            chunkByteCount: 1_024,
            dataFetcher: server(partByteCount: { _ in 1_024 })
        )
        let transfer = TransferData(from: loader, to: saver, limits: TransferLimits(maximumByteCount: 10_240))
        await #expect(throws: TransferDataError.self) { try await transfer() }
        #expect(target.requests.contains { $0.headerFields[.contentRange] == "bytes 8192-9215/*" })
        #expect(target.paths.isEmpty)
    }
}
