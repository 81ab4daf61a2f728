import Foundation
import InwardRepositories
import TestSupport
import Testing

@testable import InwardFileStores

/// Tests of logs that other versions of the program wrote.
@Suite(.timeLimit(.minutes(5)))
struct FileRecordStoreFormatTests {
    private let directory: TemporaryDirectory
    private let url: URL

    init() throws {
        directory = try TemporaryDirectory()
        url = directory.url.appending(path: "store")
    }

    private var log: URL { url.appending(path: "records") }

    /// Checks that a log is refused and left unchanged.
    private func checkIsRefused(_ bytes: [UInt8]) async throws {
        try Data(bytes).write(to: log)
        let reports = RecordDamageReports()
        let store = FileRecordStore.opened(url, slack: 0, reports: reports)
        let reading = await #expect(throws: RecordStoreError.self) { try await store.record(for: ["a"]) }
        let writing = await #expect(throws: RecordStoreError.self) { try await store.commit([.removeAll([])]) }
        for error in [reading, writing] {
            #expect(error?.explanation.contains("Run the newer version") == true)
        }
        #expect(Array(try Data(contentsOf: log)) == bytes)
        #expect(reports.all == [])
    }

    private func bytes() async throws -> [UInt8] {
        try await FileRecordStore.opened(url).commit([.keep(StoredRecord([1]), ["a"])])
        return Array(try Data(contentsOf: log))
    }

    @Test func logOfANewerFormatIsRefusedAndLeftUnchanged() async throws {
        let bytes = try await bytes()
        #expect(Array(bytes.prefix(RecordLogHeader.length)) == RecordLogHeader.bytes())
        let header = RecordLogHeader.bytes(format: RecordLogHeader.currentFormat + 1)
        try await checkIsRefused(header + bytes.dropFirst(header.count))
        // The rest of the log can have any contents.
        try await checkIsRefused(header + Array("something else".utf8))
        // One damaged copy of the header does not change the format.
        try await checkIsRefused([header[0] ^ 1] + header.dropFirst())
    }

    @Test(arguments: [0, 12, 255] as [UInt8]) func unknownOperationIsNotTreatedAsDamage(code: UInt8) async throws {
        let bytes = try await bytes()
        let operations = [code] + UInt64(1).littleEndianBytes + [0]
        func head(_ mark: RecordFrame.Mark) -> [UInt8] {
            RecordFramePrefix(mark, offset: bytes.count, operations: operations, bodyLength: 0).bytes + operations
        }
        try await checkIsRefused(bytes + head(.head) + head(.tail))
        // The result is the same if the first head is damaged, or if another frame follows.
        let damaged = [UInt8](repeating: 0, count: head(.head).count)
        try await checkIsRefused(bytes + damaged + head(.tail))
    }

    @Test func logWithoutAHeaderIsReadAndGetsAHeader() async throws {
        // A log of format 0 consists of frames only.
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        var bytes: [UInt8] = []
        for (number, key) in [(1, ["a"]), (2, ["b"])] as [(UInt8, RecordKey)] {
            var builder = RecordFrameBuilder()
            builder.add(.keep(StoredRecord([number]), key))
            let frame = builder.frame(at: bytes.count)
            bytes += frame.head + frame.tail
        }
        try Data(bytes).write(to: log)
        let reports = RecordDamageReports()
        for _ in 0..<2 {
            #expect(try await FileRecordStore.opened(url, reports: reports).contents() == [["a"]: [1], ["b"]: [2]])
            #expect(try Data(contentsOf: log).starts(with: RecordLogHeader.bytes()))
        }
        #expect(reports.all == [])
    }
}
