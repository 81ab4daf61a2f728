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

struct FetchingDataLoaderTests {
    private let data: [UInt8] = Array(0..<10)

    private func loader(
        _ server: any DataFetcher,
        _ path: String = "data",
        wholeByteLimit: Int = 100
    ) throws -> FetchingDataLoader {
        FetchingDataLoader(
            url: try .example(path),
            chunkByteCount: 4,
            wholeByteLimit: wholeByteLimit,
            dataFetcher: server
        )
    }

    /// Returns a loader that gets the given response.
    private func loader(
        answering status: DataResponse.Status,
        _ fields: HeaderFields,
        _ body: [UInt8] = []
    ) throws -> FetchingDataLoader {
        let response = DataResponse(status: status, headerFields: fields, body: Data(body))
        return try loader(ScriptedDataFetcher([.answer(response)]))
    }

    @Test func chunksAreRequestedByRanges() async throws {
        let server = InMemoryWebDataFetcher()
        server["/data"] = data
        let saver = InMemoryDataSaver()
        let report = try await TransferData(from: loader(server), to: saver)()
        #expect(saver.saved == data)
        #expect(report.validator == "\"1\"")
        #expect(server.requests.map { $0.headerFields[.range] } == ["bytes=0-3", "bytes=4-7", "bytes=8-11"])
        #expect(server.requests.map { $0.headerFields[.ifRange] } == [nil, "\"1\"", "\"1\""])
        #expect(server.requests.allSatisfy { $0.headerFields[.acceptEncoding] == "identity" })
    }

    @Test(arguments: [InMemoryWebDataFetcher.Abilities.all, [.tagging], [.givingParts], []], [0, 1, 4, 5, 10])
    func dataIsLoadedFromAnyServer(abilities: InMemoryWebDataFetcher.Abilities, count: Int) async throws {
        let server = InMemoryWebDataFetcher(abilities)
        server["/data"] = Array(data.prefix(count))
        let saver = InMemoryDataSaver()
        try await TransferData(from: loader(server), to: saver)()
        #expect(saver.saved == Array(data.prefix(count)))
        try await DataLoaderConformance(Array(data.prefix(count))).check(loader(server))
    }

    @Test(arguments: [InMemoryWebDataFetcher.Abilities.all, [.tagging], [.givingParts], []], [0, 4, 10])
    func replacedSourcesAreDetected(abilities: InMemoryWebDataFetcher.Abilities, count: Int) async throws {
        let server = InMemoryWebDataFetcher(abilities)
        server["/data"] = data
        let other = Array(data.reversed().prefix(count))
        try await DataLoaderConformance(data).checkReplacement(of: loader(server), with: other) {
            server["/data"] = other
        }
    }

    /// Returns a server that answers each range with one byte, and never states the total.
    private func endlessServer(repeatsFirst: Bool = false) -> RecordingDataFetcher {
        RecordingDataFetcher(
            StubDataFetcher { request throws(FetchError) in
                let range = request.headerFields[.range] ?? ""
                let offset = repeatsFirst ? 0 : Int(range.dropFirst("bytes=".count).prefix { $0 != "-" }) ?? 0
                return DataResponse(
                    status: .partialContent,
                    headerFields: [
                        HeaderField(.etag, "\"1\""), HeaderField(.contentRange, "bytes \(offset)-\(offset)/*"),
                    ],
                    body: Data([7])
                )
            }
        )
    }

    @Test func endlessSingleBytesAreRejected() async throws {
        let server = endlessServer()
        let saver = InMemoryDataSaver()
        let error = await #expect(throws: TransferDataError.self) {
            try await TransferData(from: loader(server), to: saver)()
        }
        guard case .limitExceeded(let cause) = error else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(cause.explanation.contains("TransferLimits.minimumChunkByteCount"))
        #expect(server.requests.count == 1_001)
        #expect(saver.saved == nil && saver.left == nil)
        await #expect(throws: DataLoaderError.self) { try await loader(server).checksum() }
        #expect(server.requests.count == 2_002)
    }

    @Test func sameByteForEachRangeIsRejected() async throws {
        let server = endlessServer(repeatsFirst: true)
        let error = await #expect(throws: TransferDataError.self) {
            try await TransferData(from: loader(server), to: InMemoryDataSaver())()
        }
        #expect(error?.description.contains("a different range than requested") == true)
        #expect(server.requests.count == 2)
    }

    @Test func changedSourcesAreLoadedFromTheBeginning() async throws {
        let changed = data.map { $0 + 100 }
        let server = InMemoryWebDataFetcher { server, request in
            if request.headerFields[.range] == "bytes=8-11", server["/data"] != changed { server["/data"] = changed }
        }
        server["/data"] = data
        let saver = InMemoryDataSaver()
        let report = try await TransferData(from: loader(server), to: saver)()
        #expect(saver.saved == changed)
        #expect(report.restartCount == 1)
        // With `If-Range`, the response to that request was the whole new version.
        #expect(server.requests.count == 3)
    }

    @Test(arguments: [8, 10]) func sourcesWithRangesAreResumedAtTheOffset(offset: Int) async throws {
        let server = InMemoryWebDataFetcher()
        server["/data"] = data
        let loaded = try await loader(server).chunk(at: offset, of: "\"1\"")
        #expect(loaded.chunk == DataChunk(Array(data.dropFirst(offset)), at: offset, isLast: true))
        #expect(loaded.validator == "\"1\"")
        #expect(loaded.totalByteCount == 10)
    }

    @Test func shorterSourcesAreLoadedFromTheBeginning() async throws {
        let server = InMemoryWebDataFetcher([.givingParts])
        server["/data"] = [7]
        let loaded = try await loader(server).chunk(at: 8, of: "\"1\"")
        #expect(loaded.chunk == DataChunk([7], at: 0, isLast: true))
        #expect(loaded.validator == nil)
    }

    @Test func emptiedSourcesAreRequestedFromTheBeginning() async throws {
        let server = InMemoryWebDataFetcher([.givingParts])
        server["/data"] = []
        let loaded = try await loader(server).chunk(at: 1, of: "\"1\"")
        #expect(loaded.chunk == DataChunk([], at: 0, isLast: true))
        #expect(server.requests.map { $0.headerFields[.range] } == ["bytes=1-4", "bytes=0-3"])
    }

    @Test(arguments: [-1, 0, 1]) func chunksHaveAtLeastOneByte(count: Int) async throws {
        let server = InMemoryWebDataFetcher()
        server["/data"] = [1, 2]
        let loader = FetchingDataLoader(url: try .example("data"), chunkByteCount: count, dataFetcher: server)
        #expect(try await loader.chunk(at: 0, of: nil).chunk == DataChunk([1], at: 0, isLast: false))
    }

    @Test func chunksOfAnySizeCanBeRequestedAtAnyOffset() async throws {
        let server = InMemoryWebDataFetcher([.givingParts])
        server["/data"] = [1, 2]
        let loader = FetchingDataLoader(url: try .example("data"), chunkByteCount: .max, dataFetcher: server)
        #expect(try await loader.chunk(at: 1, of: "\"1\"").chunk == DataChunk([2], at: 1, isLast: true))
        #expect(server.requests.map { $0.headerFields[.range] } == ["bytes=1-\(Int.max)"])
    }

    /// RFC 9110 section 15.3.7.
    @Test func responsesMayOmitTheVersion() async throws {
        let loaded = try await loader(answering: 206, [HeaderField(.contentRange, "bytes 4-5/6")], [1, 2])
            .chunk(at: 4, of: "\"1\"")
        #expect(loaded.validator == "\"1\"")
        #expect(loaded.chunk == DataChunk([1, 2], at: 4, isLast: true))
    }

    @Test func partsOfAnotherVersionAreDetected() async throws {
        let fields: HeaderFields = [HeaderField(.contentRange, "bytes 4-5/6"), HeaderField(.etag, "\"2\"")]
        #expect(try await loader(answering: 206, fields, [1, 2]).chunk(at: 4, of: "\"1\"").validator == "\"2\"")
    }

    @Test(arguments: ["bytes 0-1/6", "bytes 4-6/9", "", "bytes */6"])
    func otherRangesAreRejected(range: String) async throws {
        let loader = try loader(answering: 206, [HeaderField(.contentRange, range)], [1, 2])
        let error = await #expect(throws: DataLoaderError.self) { try await loader.chunk(at: 4, of: "\"1\"") }
        #expect(error?.explanation == "was answered with a different range than requested")
    }

    @Test func encodedBodiesAreRejected() async throws {
        let loader = try loader(answering: 200, [HeaderField(.contentEncoding, "br")], [1, 2])
        let error = await #expect(throws: DataLoaderError.self) { try await loader.chunk(at: 0, of: nil) }
        #expect(error?.explanation.contains("encoded as br") == true)
    }

    @Test func fallbacksAreRejected() async throws {
        var response = DataResponse(body: Data([1]))
        response.fallbackReason = FetchError(
            .unreachable,
            request: DataRequest(url: try .example()),
            explanation: "reached nobody"
        )
        let loader = try loader(ScriptedDataFetcher([.answer(response)]))
        let error = await #expect(throws: DataLoaderError.self) { try await loader.chunk(at: 0, of: nil) }
        #expect(error?.explanation == "reached nobody")
    }

    @Test func wholeBodiesAreLimited() async throws {
        let server = InMemoryWebDataFetcher([])
        server["/data"] = data
        let loader = try loader(server, wholeByteLimit: 9)
        let error = await #expect(throws: DataLoaderError.self) { try await loader.chunk(at: 0, of: nil) }
        #expect(error?.explanation.contains("more than 9 bytes") == true)
    }

    @Test(arguments: [(404, true), (410, true), (403, false), (503, false), (302, false), (304, false)])
    func unsuccessfulResponsesAreErrors(status: Int, meansAbsence: Bool) async throws {
        let loader = try loader(answering: DataResponse.Status(status), [])
        let error = await #expect(throws: DataLoaderError.self) { try await loader.chunk(at: 0, of: nil) }
        #expect(error?.meansAbsence == meansAbsence)
        #expect(error?.source == "GET http://upstream.test/data")
        #expect(error?.explanation.hasPrefix("was answered with \(status)") == true)
    }

    @Test func versionIsValidatedWithAConditionalRequest() async throws {
        let server = InMemoryWebDataFetcher()
        server["/data"] = data
        #expect(try await loader(server).stillHas("\"1\""))
        #expect(try await !loader(server).stillHas("\"0\""))
        #expect(server.requests.map { $0.headerFields[.ifNoneMatch] } == ["\"1\"", "\"0\""])
        let time = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(try await loader(answering: 304, []).stillHas(time))
        let fields: HeaderFields = [
            HeaderField(.lastModified, time), HeaderField(.date, "Sun, 06 Nov 1995 08:49:37 GMT"),
        ]
        #expect(try await loader(answering: 200, fields).stillHas(time))
        #expect(try await !loader(answering: 200, []).stillHas(time))
        let failing = try loader(answering: 503, [])
        await #expect(throws: DataLoaderError.self) { try await failing.stillHas(time) }
    }

    @Test func urlsWithSecretsAreNotUsedAsNames() throws {
        let server = InMemoryWebDataFetcher()
        #expect(try loader(server).source == "http://upstream.test/data")
        #expect(try loader(server, "data?key=secret").source == nil)
        let named = FetchingDataLoader(url: try .example("data?key=secret"), name: "The data", dataFetcher: server)
        #expect(named.source == "The data")
    }
}
