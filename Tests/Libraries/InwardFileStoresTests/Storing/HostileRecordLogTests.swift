import Foundation
import InwardRecordDirectories
import InwardRepositories
import TestSupport
import Testing
import Thoroughness

@testable import InwardFileStores

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Tests of forged logs: their checksums are valid, but no store wrote them.
@Suite(.timeLimit(.minutes(5)))
struct HostileRecordLogTests {
    private let directory: TemporaryDirectory
    private let url: URL

    init() throws {
        directory = try TemporaryDirectory()
        url = directory.url.appending(path: "store")
    }

    private var log: URL { url.appending(path: "records") }

    /// Writes the log of the store.
    private func write(_ bytes: [UInt8]) throws {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true, attributes: attributes)
        try Data(bytes).write(to: log)
    }

    /// Returns a log with one frame of these operations. A whole frame has both heads.
    private func bytes(of operations: [RecordOperation], bodyLength: Int, isWhole: Bool) -> [UInt8] {
        var encoded: [UInt8] = []
        for operation in operations { RecordOperationCoding.encode(operation, into: &encoded) }
        let header = RecordLogHeader.bytes()
        func head(_ mark: RecordFrame.Mark) -> [UInt8] {
            RecordFramePrefix(mark, offset: header.count, operations: encoded, bodyLength: bodyLength).bytes + encoded
        }
        return header + head(.head) + (isWhole ? head(.tail) : [])
    }

    /// Checks that a store accepts commits.
    private func checkAcceptsCommits(_ store: FileRecordStore) async throws {
        #expect(try await store.contents() == [:])
        try await store.commit([.keep(StoredRecord([1]), ["a"])])
        #expect(try await store.contents() == [["a"]: [1]])
        #expect(try await FileRecordStore.opened(url).contents() == [["a"]: [1]])
    }

    @Test(
        arguments: [
            .setDurableCount(before: 0, after: .max), .setDurableCount(before: .max, after: 0),
            .setUnknownLossCount(.max), .setLastNumber(.max), .setLastNumber(RecordStamp.maximumNumber + 1),
            .lease(RecordKey(["a"]).encoded, token: .max, end: .distantFuture),
        ] as [RecordOperation]
    )
    func countThatWouldOverflowIsDamage(operation: RecordOperation) async throws {
        let whole = bytes(of: [operation], bodyLength: 0, isWhole: true)
        try write(whole)
        let reports = RecordDamageReports()
        try await checkAcceptsCommits(FileRecordStore.opened(url, reports: reports))
        #expect(reports.all.count == 1)
        // The result is the same after another damaged part, which is counted too.
        try write(Array(whole.prefix(RecordLogHeader.length)) + [UInt8](repeating: 0, count: 8) + whole)
        try await checkAcceptsCommits(FileRecordStore.opened(url))
    }

    @Test func storeWithTheMaximumNumberAcceptsCommits() async throws {
        try write(bytes(of: [.setLastNumber(RecordStamp.maximumNumber)], bodyLength: 0, isWhole: true))
        let reports = RecordDamageReports()
        let store = FileRecordStore.opened(url, reports: reports)
        try await checkAcceptsCommits(store)
        #expect(try await store.lease(under: [], limit: 1, for: .seconds(1)).count == 1)
        #expect(try await FileRecordStore.opened(url, reports: reports).contents() == [["a"]: [1]])
        #expect(reports.all == [])
    }

    @Test func noMemoryIsAllocatedForAFrameLongerThanTheFile() async throws {
        let entry = RecordEntry(offset: 0, length: 1 << 54, checksum: 0, expiry: nil)
        try write(bytes(of: [.keep(RecordKey(["a"]).encoded, entry)], bodyLength: entry.length, isWhole: false))
        try await checkAcceptsCommits(FileRecordStore.opened(url))
    }

    @Test func headsThatEachClaimTheRestOfTheFileAreReadInLinearTime() async throws {
        let size = (Thoroughness.isExhaustive ? 512 : 256) * 1_024
        var bytes: [UInt8] = []
        while bytes.count + RecordFrame.prefixLength <= size {
            let length = size - bytes.count - RecordFrame.prefixLength
            let numbers = [UInt64(bytes.count), UInt64(length), 0, 7]
            bytes += Array(RecordFrame.Mark.head.rawValue.utf8) + numbers.flatMap(\.littleEndianBytes)
        }
        bytes += [UInt8](repeating: 0, count: size - bytes.count)
        // The scan finds a commit that follows them.
        var builder = RecordFrameBuilder()
        builder.add(.keep(StoredRecord([1]), ["a"]))
        let frame = builder.frame(at: size)
        try write(bytes + frame.head + frame.tail)
        let file = try RecordDirectory(url: url, faults: { _ in nil }).open(RecordDirectory.log, O_RDWR)
        let scan = try RecordLogScan(file, path: "", from: 0, size: file.status().size)
        #expect(scan.futileByteCount < 18 * size)
        #expect(try await FileRecordStore.opened(url).contents() == [["a"]: [1]])
    }
}
