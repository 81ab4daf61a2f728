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

/// Tests loaders and savers with a server that answers every request for a part with yet another part.
struct HostileServerTests {
    private let saver = InMemoryDataSaver()

    /// Returns a server whose parts have the given sizes and totals, depending on their offset.
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

    /// A record of a run that never happened, with the largest numbers that a record may have.
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
            Issue.record("The error was \(String(describing: error)).")
            return nil
        }
    }

    @Test func singleBytePartsWithoutATotalAreRejectedAfterAFew() async throws {
        let server = server(partByteCount: { _ in 1 })
        #expect(try await failure(server)?.explanation.contains("TransferLimits.minimumChunkByteCount") == true)
        #expect(server.requests.count == 1_002)
    }

    @Test func endlessPartsAreRejectedAtTheLimit() async throws {
        let server = server(partByteCount: { _ in 1_024 })
        let error = try await failure(server, TransferLimits(maximumByteCount: 10_240))
        #expect(error?.explanation.contains("TransferLimits.maximumByteCount. Raise the limit") == true)
        #expect(server.requests.count == 11)
    }

    @Test func growingTotalsAreRejected() async throws {
        let server = server(partByteCount: { _ in 1_024 }, total: { "\($0 + 4_096)" })
        #expect(
            try await failure(server)?.explanation.contains("reported a size of 4096 bytes, and then of") == true
        )
        #expect(server.requests.count == 2)
    }

    @Test func shrinkingTotalsAreRejected() async throws {
        let server = server(partByteCount: { _ in 1_024 }, total: { "\(8_192 - $0)" })
        #expect(try await failure(server)?.explanation.contains("and then of 7168") == true)
        #expect(server.requests.count == 2)
    }

    @Test func emptyPartsAreRejected() async throws {
        let server = server(partByteCount: { _ in 0 })
        #expect(try await failure(server)?.explanation == "was answered with a different range than requested")
        #expect(server.requests.count == 1)
    }

    @Test func partsLargerThanRequestedAreRejected() async throws {
        let server = server(partByteCount: { _ in 1_025 }, total: { _ in "2000" })
        #expect(try await failure(server)?.explanation == "was answered with a different range than requested")
    }

    @Test func responsesThatAreTooLargeNameTheLimit() async throws {
        let url = try URL.example("data")
        let server = StubDataFetcher(DataResponse(body: Data(count: 11)))
        let loader = FetchingDataLoader(url: url, chunkByteCount: 1, wholeByteLimit: 10, dataFetcher: server)
        let error = await #expect(throws: DataLoaderError.self) { try await loader.chunk(at: 0, of: nil) }
        #expect(error?.explanation.contains("raise the loader's `wholeByteLimit`") == true)
    }

    /// The server claims that an earlier run left a huge part, and returns it endlessly.
    @Test func partsAboveTheLimitAreNotReadBack() async throws {
        let server = server(partByteCount: { _ in 1_024 })
        let saver = PuttingDataSaver(url: try .example("target"), chunkByteCount: 1_024, dataFetcher: server)
        let draft = try await saver.openDraft()
        #expect(draft.saved == nil)
        #expect(server.requests.map(\.url.lastPathComponent) == ["target.inward-state"])
    }

    @Test func partsThatArriveByteByByteAreRejected() async throws {
        let server = server(partByteCount: { _ in 1 })
        let limits = TransferLimits(maximumByteCount: 1 << 60)
        let saver = PuttingDataSaver(url: try .example("target"), limits: limits, dataFetcher: server)
        let error = await #expect(throws: DataSaverError.self) { try await saver.openDraft() }
        #expect(error?.explanation.contains("TransferLimits.minimumChunkByteCount") == true)
        #expect(server.requests.count == 1 + 1_001)
    }

    @Test func readingBackIsLimited() async throws {
        let server = server(partByteCount: { _ in 1 })
        let saver = PuttingDataSaver(url: try .example("target"), dataFetcher: server)
        let error = await #expect(throws: DataSaverError.self) {
            try await saver.save([UInt8](repeating: 7, count: 4_096))
        }
        #expect(
            error?.explanation.contains("TransferLimits.minimumChunkByteCount (1024). Lower the limit") == true
        )
        #expect(server.requests.count == 1 + 1_001)
    }

    /// Data from a source above the limit would only waste space.
    @Test func sentDataIsRemovedWhenTheSourceIsRejected() async throws {
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
