import InwardFetching
import InwardTesting
import InwardTransfers
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct PuttingDataSaverTests {
    private let data: [UInt8] = Array(0..<23)

    private func saver(_ server: any DataFetcher) throws -> PuttingDataSaver {
        PuttingDataSaver(url: try .example("target"), chunkByteCount: 5, dataFetcher: server)
    }

    private func writes(_ server: InMemoryWebDataFetcher) -> [String] {
        server.requests.filter { ![.get, .delete].contains($0.method) }.map { request in
            [request.method.rawValue, request.url.path(), request.headerFields[.contentRange]].compactMap(\.self)
                .joined(separator: " ")
        }
    }

    @Test(arguments: [InMemoryWebDataFetcher.Abilities.all, []], [0, 5])
    func smallDataIsPutInOneRequest(abilities: InMemoryWebDataFetcher.Abilities, count: Int) async throws {
        let server = InMemoryWebDataFetcher(abilities)
        let data = Array(data.prefix(count))
        try await TransferData(from: InMemoryDataLoader(data), to: saver(server))()
        #expect(server["/target"] == data)
        #expect(server.paths == ["/target"])
        #expect(writes(server) == ["PUT /target"])
        // No part existed, so there was nothing to remove.
        #expect(!server.requests.contains { $0.method == .delete })
    }

    @Test func largerDataIsAssembledAndMoved() async throws {
        let server = InMemoryWebDataFetcher { server, request in
            if [.get, .put].contains(request.method) { #expect(server["/target"] == [7]) }
        }
        server["/target"] = [7]
        let loader = InMemoryDataLoader(data, chunkByteCount: 5, source: nil)
        try await TransferData(from: loader, to: saver(server))()
        #expect(server["/target"] == data)
        #expect(server.paths == ["/target"])
        #expect(
            writes(server) == [
                "PUT /target.inward-part bytes 0-4/*", "PUT /target.inward-part bytes 5-9/*",
                "PUT /target.inward-part bytes 10-14/*", "PUT /target.inward-part bytes 15-19/*",
                "PUT /target.inward-part bytes 20-22/23", "MOVE /target.inward-part",
            ]
        )
        // The moved part is not removed, but its record is.
        let last = server.requests.suffix(2).map { "\($0.method) \($0.url.path())" }
        #expect(last == ["MOVE /target.inward-part", "DELETE /target.inward-state"])
    }

    @Test func urlsMayBeRelative() async throws {
        let server = InMemoryWebDataFetcher()
        let url = try #require(URL(string: "target", relativeTo: .example("other")))
        let saver = PuttingDataSaver(url: url, chunkByteCount: 5, dataFetcher: server)
        try await TransferData(from: InMemoryDataLoader(data), to: saver)()
        #expect(server["/target"] == data)
        let hosts = Set(server.requests.map { $0.url.absoluteURL.host() })
        #expect(try hosts == [URL.example("other").host()])
    }

    @Test func largeChunksAreReadBackInSmallerChunks() async throws {
        let server = InMemoryWebDataFetcher()
        let saver = PuttingDataSaver(url: try .example("target"), chunkByteCount: 1 << 22, dataFetcher: server)
        let data = [UInt8](repeating: 7, count: (1 << 20) + 1)
        try await TransferData(from: InMemoryDataLoader(data, chunkByteCount: 1 << 20, source: nil), to: saver)()
        #expect(server["/target"] == data)
        let ranges = server.requests.filter { $0.method == .get && $0.url.path() == "/target" }.map {
            $0.headerFields[.range]
        }
        #expect(ranges == ["bytes=0-1048575", "bytes=1048576-2097151"])
    }

    @Test func saverConforms() async throws {
        let server = InMemoryWebDataFetcher()
        let saver = PuttingDataSaver(url: try .example("target"), chunkByteCount: 70_000, dataFetcher: server)
        try await DataSaverConformance { server["/target"] }.check(saver)
        #expect(server.paths == ["/target"])
    }

    @Test(arguments: [1, 3, 5, 7, 12, 23]) func chunksOfAnyLengthAreSaved(length: Int) async throws {
        let server = InMemoryWebDataFetcher()
        try await TransferData(from: InMemoryDataLoader(data, chunkByteCount: length), to: saver(server))()
        #expect(server["/target"] == data)
        #expect(server.paths == ["/target"])
        #expect(server.requests.allSatisfy { $0.url.path().hasSuffix("state") || ($0.body?.count ?? 0) <= 5 })
    }

    @Test(arguments: [-1, 0, 1]) func chunksHaveAtLeastOneByte(count: Int) async throws {
        let server = InMemoryWebDataFetcher()
        let saver = PuttingDataSaver(url: try .example("target"), chunkByteCount: count, dataFetcher: server)
        try await TransferData(from: InMemoryDataLoader([1, 2], chunkByteCount: 1), to: saver)()
        #expect(server["/target"] == [1, 2])
        #expect(
            writes(server).filter { $0.contains("bytes") } == [
                "PUT /target.inward-part bytes 0-0/*", "PUT /target.inward-part bytes 1-1/2",
            ]
        )
    }

    @Test(arguments: [4, 8, 12, 16, 20]) func interruptedTransfersResume(offset: Int) async throws {
        let server = InMemoryWebDataFetcher()
        let failing = InMemoryDataLoader(data) { (_, question) throws(DataLoaderError) in
            if question.offset == offset { throw DataLoaderError(source: "The memory", explanation: "is gone") }
        }
        await #expect(throws: TransferDataError.self) { try await TransferData(from: failing, to: saver(server))() }
        #expect(server["/target"] == nil)
        let loader = InMemoryDataLoader(data)
        let report = try await TransferData(from: loader, to: saver(server))()
        // The last chunk was not sent, because more data might have followed for the same body.
        #expect(report.resumedAt == max(0, offset - 4))
        #expect(server["/target"] == data)
        #expect(server.paths == ["/target"])
    }

    /// The second chunk of a run shows whether the server stores a part as the whole.
    @Test func sizeOfThePartIsCheckedAfterTheSecondChunk() async throws {
        let server = InMemoryWebDataFetcher()
        let failing = InMemoryDataLoader(data, chunkByteCount: 5) { (_, question) throws(DataLoaderError) in
            if question.offset == 10 { throw DataLoaderError(source: "The memory", explanation: "is gone") }
        }
        func requestsForTheSize(since count: Int) -> [String?] {
            server.requests.dropFirst(count).map { $0.headerFields[.range] }.filter { range in
                ["4-4", "9-9", "14-14", "19-19"].contains { range == "bytes=\($0)" }
            }
        }
        await #expect(throws: TransferDataError.self) { try await TransferData(from: failing, to: saver(server))() }
        let count = server.requests.count
        let loader = InMemoryDataLoader(data, chunkByteCount: 5)
        #expect(try await TransferData(from: loader, to: saver(server))().resumedAt == 5)
        #expect(requestsForTheSize(since: count) == ["bytes=14-14"])
    }

    /// The limits allow a thousand chunks below the minimum size. When the saver itself requests small chunks, more are
    /// allowed.
    @Test func smallChunksAreReadBackInSmallChunks() async throws {
        let server = InMemoryWebDataFetcher()
        let data = [UInt8](repeating: 7, count: 1_100)
        let saver = PuttingDataSaver(url: try .example("target"), chunkByteCount: 1, dataFetcher: server)
        try await TransferData(from: InMemoryDataLoader(data, chunkByteCount: 1_100), to: saver)()
        #expect(server["/target"] == data)
        let readings = server.requests.filter { $0.method == .get && $0.url.path() == "/target.inward-part" }
        let ranges = readings.compactMap { $0.headerFields[.range] }
        // The first request is for the size of the part, after its second chunk.
        #expect(ranges == ["bytes=1-1"] + data.indices.map { "bytes=\($0)-\($0)" })
    }

    /// An earlier run put the data, but ended before it recorded that.
    @Test func dataBeyondTheRecordIsPutAgain() async throws {
        let server = InMemoryWebDataFetcher()
        let failing = InMemoryDataLoader(data) { (_, question) throws(DataLoaderError) in
            if question.offset == 16 { throw DataLoaderError(source: "The memory", explanation: "is gone") }
        }
        await #expect(throws: TransferDataError.self) { try await TransferData(from: failing, to: saver(server))() }
        server["/target.inward-part"]? += [9, 9, 9, 9]
        #expect(try await TransferData(from: InMemoryDataLoader(data), to: saver(server))().resumedAt == 12)
        #expect(server["/target"] == data)
    }

    @Test func unusablePartsAreRemoved() async throws {
        let server = InMemoryWebDataFetcher()
        let failing = InMemoryDataLoader(data, source: nil) { (_, question) throws(DataLoaderError) in
            if question.offset == 16 { throw DataLoaderError(source: "The memory", explanation: "is gone") }
        }
        await #expect(throws: TransferDataError.self) { try await TransferData(from: failing, to: saver(server))() }
        #expect(writes(server).count == 3)
        #expect(server.paths == [])
    }

    @Test func draftsThatWereNotBegunAreRemovedToo() async throws {
        let server = InMemoryWebDataFetcher()
        let saver = PuttingDataSaver(url: try .example("target"), chunkByteCount: 1, dataFetcher: server)
        var draft = try await saver.openDraft()
        // One byte is sent, and the other is not.
        try await draft.append([1, 2], reaching: SavedPart(source: nil, validator: nil, steps: nil))
        #expect(server.paths == ["/target.inward-part"])
        await draft.leave()
        #expect(server.paths == [])
    }

    @Test func resumablePartsStayIfNothingMoreIsLoaded() async throws {
        let server = InMemoryWebDataFetcher()
        for offset in [16, 12] {
            let failing = InMemoryDataLoader(data) { (_, question) throws(DataLoaderError) in
                if question.offset == offset { throw DataLoaderError(source: "The memory", explanation: "is gone") }
            }
            await #expect(throws: TransferDataError.self) { try await TransferData(from: failing, to: saver(server))() }
        }
        #expect(try await TransferData(from: InMemoryDataLoader(data), to: saver(server))().resumedAt == 12)
        #expect(server["/target"] == data)
    }

    @Test func restartedDraftsLeaveNoPart() async throws {
        let server = InMemoryWebDataFetcher()
        let saver = PuttingDataSaver(url: try .example("target"), chunkByteCount: 1, dataFetcher: server)
        var draft = try await saver.openDraft()
        let nothing = SavedPart(source: nil, validator: nil, steps: nil)
        try await draft.append([1, 2], reaching: nothing)
        try await draft.begin()
        try await draft.append([3], reaching: nothing)
        try await draft.publish(Checksum(of: [3].span))
        #expect(server["/target"] == [3])
        #expect(server.paths == ["/target"])
    }

    /// A restarted draft removes the resumed part. Its own part has no source, so it cannot be resumed either.
    @Test func draftsRestartedAfterResumingAreRemovedToo() async throws {
        let server = InMemoryWebDataFetcher()
        let failing = InMemoryDataLoader(data) { (_, question) throws(DataLoaderError) in
            if question.offset == 16 { throw DataLoaderError(source: "The memory", explanation: "is gone") }
        }
        await #expect(throws: TransferDataError.self) { try await TransferData(from: failing, to: saver(server))() }
        var draft = try await saver(server).openDraft()
        #expect(draft.saved?.savedByteCount == 12)
        try await draft.begin()
        #expect(server.paths == [])
        try await draft.append(data, reaching: SavedPart(source: nil, validator: nil, steps: nil))
        #expect(server.paths == ["/target.inward-part"])
        await draft.leave()
        #expect(server.paths == [])
    }

    @Test func damagedPartsArePutAgain() async throws {
        let server = InMemoryWebDataFetcher()
        let failing = InMemoryDataLoader(data) { (_, question) throws(DataLoaderError) in
            if question.offset == 16 { throw DataLoaderError(source: "The memory", explanation: "is gone") }
        }
        await #expect(throws: TransferDataError.self) { try await TransferData(from: failing, to: saver(server))() }
        server["/target.inward-part"] = [UInt8](repeating: 9, count: 30)
        let report = try await TransferData(from: InMemoryDataLoader(data), to: saver(server))()
        #expect(report.resumedAt == 0)
        #expect(server["/target"] == data)
    }

    @Test func partsOfAnotherVersionArePutFromTheBeginning() async throws {
        let server = InMemoryWebDataFetcher()
        let failing = InMemoryDataLoader(data) { (_, question) throws(DataLoaderError) in
            if question.offset == 16 { throw DataLoaderError(source: "The memory", explanation: "is gone") }
        }
        await #expect(throws: TransferDataError.self) { try await TransferData(from: failing, to: saver(server))() }
        let count = writes(server).count
        let loader = InMemoryDataLoader(data.reversed(), validator: "2")
        #expect(try await TransferData(from: loader, to: saver(server))().resumedAt == 0)
        #expect(writes(server).dropFirst(count).first { $0.contains("bytes") }?.hasSuffix(" bytes 0-3/*") == true)
        #expect(server["/target"] == data.reversed())
    }

    /// If nothing was saved, there is no part to read.
    @Test(arguments: [0, 1]) func partIsReadOnlyIfSomethingWasSaved(count: Int) async throws {
        let server = InMemoryWebDataFetcher()
        let saved = Array(data.prefix(count))
        let part = SavedPart(
            source: "The memory",
            validator: "1",
            steps: [],
            loadedByteCount: 1,
            savedByteCount: count,
            checksum: Checksum(of: saved.span).value
        )
        server["/target.inward-part"] = saved
        server["/target.inward-state"] = part.note
        #expect(SavedPart(note: part.note) == part)
        var draft = try await saver(server).openDraft()
        #expect(draft.saved == (count == 0 ? nil : part))
        let partRequests = server.requests.filter { $0.url.path() == "/target.inward-part" }
        #expect(partRequests.map(\.method) == (count == 0 ? [] : [.get]))
        try await draft.begin()
        #expect(draft.saved == nil)
    }

    @Test(arguments: [65_536, 65_537]) func recordsThatAreTooLongAreNotRead(byteCount: Int) async throws {
        let server = InMemoryWebDataFetcher()
        let bytes: [UInt8] = [0]
        let part = SavedPart(
            source: "The memory",
            validator: "1",
            steps: [],
            loadedByteCount: 1,
            savedByteCount: 1,
            checksum: Checksum(of: bytes.span).value
        )
        server["/target.inward-part"] = bytes
        // Encoded once, because the order of its keys varies, and its checksum has a varying number of digits.
        let note = part.note
        server["/target.inward-state"] = note + [UInt8](repeating: UInt8(ascii: "\n"), count: byteCount - note.count)
        #expect(try await saver(server).openDraft().saved == (byteCount > 65_536 ? nil : part))
    }

    /// The checksum has hexadecimal digits.
    @Test func recordsOfEarlierVersionsAreRead() {
        let numbers = #"{"checksum":7,"loadedByteCount":8,"savedByteCount":8,"source":"a","steps":[],"validator":"1"}"#
        let part = SavedPart(
            source: "a",
            validator: "1",
            steps: [],
            loadedByteCount: 8,
            savedByteCount: 8,
            checksum: 7
        )
        #expect(SavedPart(note: Array("\(numbers)\n35ab66c23d56d5d0\n".utf8)) == part)
    }

    @Test(arguments: [(399, false), (400, true), (404, true), (499, true), (500, false), (503, false)])
    func clientErrorsMeanNoRecordAndServerErrorsAreThrown(status: Int, isNothing: Bool) async throws {
        let saver = try saver(StubDataFetcher(DataResponse(status: .init(status))))
        if isNothing {
            #expect(try await saver.openDraft().saved == nil)
        } else {
            await #expect(throws: DataSaverError.self) { try await saver.openDraft() }
        }
    }

    @Test func recordsWithoutAPartAreIgnored() async throws {
        let server = InMemoryWebDataFetcher()
        let part = SavedPart(
            source: "The memory",
            validator: "1",
            steps: [],
            loadedByteCount: 8,
            savedByteCount: 8,
            checksum: 1
        )
        server["/target.inward-state"] = part.note
        #expect(try await TransferData(from: InMemoryDataLoader(data), to: saver(server))().resumedAt == 0)
        #expect(server["/target"] == data)
    }

    @Test(arguments: [(Int.max, 1), (-1, 1), (1, Int.max), (1, -1)])
    func recordsWithAbsurdNumbersAreIgnored(loaded: Int, saved: Int) async throws {
        let server = InMemoryWebDataFetcher()
        let part = SavedPart(
            source: "The memory",
            validator: "1",
            steps: [],
            loadedByteCount: loaded,
            savedByteCount: saved,
            checksum: Checksum(of: [UInt8(0)].span).value
        )
        server["/target.inward-part"] = [0]
        server["/target.inward-state"] = part.note
        #expect(SavedPart(note: part.note) == nil)
        #expect(try await TransferData(from: InMemoryDataLoader(data), to: saver(server))().resumedAt == 0)
        #expect(server["/target"] == data)
    }

    @Test func serversThatStoreAPartAsTheWholeAreDetected() async throws {
        let server = InMemoryWebDataFetcher([.givingParts, .tagging])
        server["/target"] = [7]
        let error = await #expect(throws: TransferDataError.self) {
            try await TransferData(from: InMemoryDataLoader(data), to: saver(server))()
        }
        #expect(error?.description.contains("the server does not support Content-Range") == true)
        // The saver detects it after two chunks, before it sends the rest for nothing.
        #expect(writes(server).count { $0.contains("inward-part") } == 2)
        #expect(server["/target"] == [7])
        #expect(server.paths == ["/target"])
    }

    @Test(arguments: ["/target.inward-part", "/target"])
    func differencesWhenReadingBackAreErrors(path: String) async throws {
        let readings = Mutex(0)
        let server = InMemoryWebDataFetcher { server, request in
            // The first read of the part requests its size.
            guard request.method == .get, request.url.path() == path else { return }
            let number = readings.withLock { readings in
                readings += 1
                return readings
            }
            if number == (path == "/target" ? 1 : 2) { server[path] = server[path].map { $0.map { $0 ^ 1 } } }
        }
        let data = path == "/target" ? Array(data.prefix(3)) : data
        let error = await #expect(throws: TransferDataError.self) {
            try await TransferData(from: InMemoryDataLoader(data), to: saver(server))()
        }
        #expect(error?.description.contains("the stored data differs from the data that was sent") == true)
        #expect(server.paths == (path == "/target" ? ["/target"] : []))
    }

    @Test(arguments: [3, 23]) func serversThatReturnMoreThanWasPutAreDetected(count: Int) async throws {
        let path = count == 3 ? "/target" : "/target.inward-part"
        let readings = Mutex(0)
        let server = InMemoryWebDataFetcher { server, request in
            guard request.method == .get, request.url.path() == path else { return }
            let isFirst = readings.withLock { readings in
                readings += 1
                return readings == (count == 3 ? 1 : 2)
            }
            if isFirst { server[path] = server[path].map { $0 + [7] } }
        }
        let error = await #expect(throws: TransferDataError.self) {
            try await TransferData(from: InMemoryDataLoader(Array(data.prefix(count))), to: saver(server))()
        }
        #expect(error?.description.contains("the stored data differs from the data that was sent") == true)
    }

    @Test(arguments: [DataRequest.Method.put, .move, .get, .delete])
    func failingServersReplaceNothing(method: DataRequest.Method) async throws {
        let server = InMemoryWebDataFetcher { (_, request) throws(FetchError) in
            guard request.method != method else {
                throw FetchError(.unreachable, request: request, explanation: "reached nobody")
            }
        }
        server["/target"] = [7]
        let error = await #expect(throws: TransferDataError.self) {
            try await TransferData(from: InMemoryDataLoader(data), to: saver(server))()
        }
        #expect(error?.description.hasSuffix("reached nobody") == true)
        #expect(server["/target"] == [7])
    }

    /// The move may have taken effect. Removing the part would then remove the saved data.
    @Test func partIsKeptIfItsMoveFails() async throws {
        let server = InMemoryWebDataFetcher { (_, request) throws(FetchError) in
            guard request.method != .move else {
                throw FetchError(.interrupted, request: request, explanation: "was cut off")
            }
        }
        let loader = InMemoryDataLoader(data, source: nil)
        await #expect(throws: TransferDataError.self) { try await TransferData(from: loader, to: saver(server))() }
        #expect(server["/target.inward-part"] == data)
    }

    @Test func errorsAndFieldsDoNotContainSecretsOfTheURL() async throws {
        let server = InMemoryWebDataFetcher { (_, request) throws(FetchError) in
            guard request.method != .move else {
                throw FetchError(.unreachable, request: request, explanation: "to \(request.url) failed")
            }
        }
        let saver = PuttingDataSaver(
            url: try .example("target?key=secret"),
            chunkByteCount: 5,
            dataFetcher: server
        )
        let error = await #expect(throws: TransferDataError.self) {
            try await TransferData(from: InMemoryDataLoader(data), to: saver)()
        }
        #expect(error?.description.contains("secret") == false)
        #expect(server.requests.allSatisfy { !$0.headerFields.description.contains("secret") })
        #expect(server.requests.last { $0.method == .move }?.url.query() == "key=secret")
    }
}
