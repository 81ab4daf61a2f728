import Foundation
import InwardRecordDirectories
import InwardRepositories
import InwardTesting
import Synchronization
import TestSupport
import Testing
import Thoroughness

@testable import InwardFileStores

@Suite(.timeLimit(.minutes(5)))
struct FileRecordStoreDamageTests {
    private let directory: TemporaryDirectory
    private let history = RecordHistory()

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Returns the log of all commits, or the log after a rewrite.
    private func log(isRewritten: Bool = false) async throws -> [UInt8] {
        let url = directory.url.appending(path: "whole")
        let store = FileRecordStore.opened(url, slack: isRewritten ? 0 : 1 << 20)
        for changes in history.commits { try await store.commit(changes) }
        if isRewritten {
            for _ in 0..<8 { try await store.commit([.keep(StoredRecord([4, 4]), ["a"])]) }
            // The cleanup after a commit is done before the next commit.
            try await store.commit([.keep(StoredRecord([4, 4]), ["é"])])
        }
        #expect(try await store.contents() == history.last)
        return Array(try Data(contentsOf: url.appending(path: "records")))
    }

    /// Creates a directory that contains the given log.
    private func place(_ bytes: [UInt8], _ name: String) throws -> URL {
        let url = directory.url.appending(path: name)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try Data(bytes).write(to: url.appending(path: "records"))
        return url
    }

    /// Whether the log is rewritten, and what is changed in a byte.
    private static let changes: [(Bool, UInt8)] = [(false, 0xFF), (false, 0x01), (true, 0xFF), (true, 0x01)]

    @Test(arguments: Thoroughness.sample(changes, every: 3))
    func changedByteNeverCausesAWrongAnswer(isRewritten: Bool, mask: UInt8) async throws {
        let log = try await log(isRewritten: isRewritten)
        var reportCount = 0
        let indices = Thoroughness.damaged(log.indices, by: mask, every: 23)
        for index in indices {
            var bytes = log
            bytes[index] ^= mask
            let url = try place(bytes, "changed")
            let reports = RecordDamageReports()
            let store = FileRecordStore.opened(url, reports: reports)
            var lost: Set<RecordKey> = []
            for key in history.keys {
                let found = try await store.record(for: key)?.bytes
                if found == nil, history.last[key] != nil {
                    lost.insert(key)
                } else {
                    #expect(found == history.last[key], "\(key) after a change of byte \(index)")
                }
            }
            let rest = history.last.filter { !lost.contains($0.key) }
            #expect(try await store.contents() == rest)
            #expect(lost.count <= 1, "after a change of byte \(index)")
            // Each loss is reported once, with its key and the path of a file.
            #expect(Set(reports.all.compactMap(\.key)) == lost)
            for report in reports.all where report.key != nil {
                #expect(report.path.map { FileManager.default.fileExists(atPath: $0) } == true)
            }
            reportCount += reports.all.count
            let again = RecordDamageReports()
            #expect(try await FileRecordStore.opened(url, reports: again).contents() == rest)
            #expect(again.all == [])
            try FileManager.default.removeItem(at: url)
        }
        #expect(reportCount > indices.count / 4)
    }

    @Test func truncatedLogReturnsTheEarlierRecords() async throws {
        let log = try await log()
        var seen: Set<[RecordKey: [UInt8]]> = []
        for length in Thoroughness.sample(0..<log.count + 1, every: 41) {
            let url = try place(Array(log.prefix(length)), "cut")
            let reports = RecordDamageReports()
            let contents = try await FileRecordStore.opened(url, reports: reports).contents()
            #expect(history.states.contains(contents), "truncated to \(length) bytes")
            seen.insert(contents)
            // The store accepts commits afterwards.
            let store = FileRecordStore.opened(url, reports: reports)
            try await store.commit([.keep(StoredRecord([9]), ["new"])])
            let expected = contents.merging([["new"]: [9]]) { $1 }
            #expect(try await FileRecordStore.opened(url, reports: reports).contents() == expected)
            #expect(reports.all.count <= 1)
            try FileManager.default.removeItem(at: url)
        }
        if Thoroughness.isExhaustive { #expect(seen == Set(history.states)) }
    }

    @Test func truncatedRewrittenLogReturnsNoWrongRecords() async throws {
        let log = try await log(isRewritten: true)
        for length in Thoroughness.sample(0..<log.count, every: 41) {
            let url = try place(Array(log.prefix(length)), "cut")
            for (key, bytes) in try await FileRecordStore.opened(url).contents() { #expect(history.last[key] == bytes) }
            try FileManager.default.removeItem(at: url)
        }
    }

    @Test func tailThatCannotBeTruncatedIsReportedOnce() async throws {
        let reports = RecordDamageReports()
        let url = try place(try await log() + Array("half a commit".utf8), "half")
        let isFull = Atomic(true)
        let tries = Atomic(0)
        let store = FileRecordStore.opened(url, reports: reports) { step in
            guard case .open(RecordDirectory.newLog) = step else { return nil }
            tries.add(1, ordering: .relaxed)
            return isFull.load(ordering: .relaxed) ? RecordFileFault(code: ENOSPC) : nil
        }
        // The disk has no space for a rewrite. The store must not try one on each read.
        for _ in 0..<3 { #expect(try await store.contents() == history.last) }
        #expect(reports.all.count == 1)
        let count = tries.load(ordering: .relaxed)
        #expect(count == 1)
        let change = RecordChange.keep(StoredRecord([2]), ["after"])
        await #expect(throws: RecordStoreError.self) { try await store.commit([change]) }
        isFull.store(false, ordering: .relaxed)
        try await store.commit([change])
        let contents = try await FileRecordStore.opened(url, reports: reports).contents()
        #expect(contents == history.last.merging([["after"]: [2]]) { $1 })
        #expect(reports.all.count == 1)
    }

    @Test func fileThatIsNotALogIsSetAside() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        let log = try await log()
        for round in 0..<(Thoroughness.isExhaustive ? 64 : 8) {
            var count = Int.random(in: 1...2_000, using: &random)
            // At this length, the header of the appended log would be where the second copy of the header belongs.
            if count == RecordLogHeader.length / 2 { count += 1 }
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            // Half of the files contain frames that are not at the offset that they state.
            if round % 2 == 0 { bytes += log }
            let url = try place(bytes, "nonsense")
            let reports = RecordDamageReports()
            let store = FileRecordStore.opened(url, reports: reports)
            #expect(try await store.contents() == [:], "The seed is \(seed).")
            let path = try #require(reports.all.first?.path)
            #expect(Array(try Data(contentsOf: URL(filePath: path))) == bytes, "The seed is \(seed).")
            try FileManager.default.removeItem(at: url)
        }
    }

    @Test func overwrittenPartLosesOnlyItsOwnRecords() async throws {
        let whole = directory.url.appending(path: "whole")
        let writer = FileRecordStore.opened(whole)
        var records: [RecordKey: [UInt8]] = [:]
        // The part of the log that each record's commit wrote.
        var parts: [RecordKey: Range<Int>] = [:]
        var log: [UInt8] = []
        for number in 0..<30 {
            let (key, bytes): (RecordKey, _) = (["\(number)"], [UInt8](repeating: UInt8(number), count: 2 * number))
            try await writer.commit([.keep(StoredRecord(bytes), key)])
            let start = log.count
            log = Array(try Data(contentsOf: whole.appending(path: "records")))
            (records[key], parts[key]) = (bytes, start..<log.count)
        }
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        for _ in 0..<(Thoroughness.isExhaustive ? 200 : 20) {
            var bytes = log
            let start = Int.random(in: log.indices, using: &random)
            let overwritten = start..<min(log.count, start + Int.random(in: 1...400, using: &random))
            for index in overwritten { bytes[index] = UInt8.random(in: 0...255, using: &random) }
            let url = try place(bytes, "overwritten")
            let found = try await FileRecordStore.opened(url).contents()
            for (key, bytes) in records {
                let mayBeLost = parts[key]?.overlaps(overwritten) == true
                #expect(found[key] == bytes || mayBeLost && found[key] == nil, "\(key), the seed is \(seed).")
            }
            try FileManager.default.removeItem(at: url)
        }
    }

    @Test func overwrittenLogReturnsOnlyBytesThatWereStored() async throws {
        let log = try await log()
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        for _ in 0..<(Thoroughness.isExhaustive ? 200 : 20) {
            var bytes = log
            let start = Int.random(in: 0..<log.count, using: &random)
            let end = min(log.count, start + Int.random(in: 1...200, using: &random))
            for index in start..<end { bytes[index] = UInt8.random(in: 0...255, using: &random) }
            let url = try place(bytes, "overwritten")
            for (key, found) in try await FileRecordStore.opened(url).contents() {
                #expect(history.states.contains { $0[key] == found }, "The seed is \(seed).")
            }
            try FileManager.default.removeItem(at: url)
        }
    }

    @Test func recordThatContainsALogIsNotReadAsOne() async throws {
        let inner = try await log()
        let url = directory.url.appending(path: "outer")
        let store = FileRecordStore.opened(url)
        try await store.commit([.keep(StoredRecord([1]), ["first"])])
        try await store.commit([.keep(StoredRecord(inner), ["inner"])])
        var bytes = Array(try Data(contentsOf: url.appending(path: "records")))
        // Destroys both heads of the commit that stores the record.
        let start = try #require(
            bytes.indices.dropFirst(RecordLogHeader.length + 1).first {
                bytes[$0...].starts(with: "RECORDS{".utf8)
            }
        )
        bytes[start + 9] ^= 1
        bytes[bytes.count - 1] ^= 1
        let reports = RecordDamageReports()
        let damaged = try place(bytes, "damaged")
        #expect(try await FileRecordStore.opened(damaged, reports: reports).contents() == [["first"]: [1]])
        #expect(reports.all.count == 1)
    }

    @Test func rewriteLeavesOutDamagedRecords() async throws {
        let url = directory.url.appending(path: "store")
        let reports = RecordDamageReports()
        let store = FileRecordStore.opened(url, slack: 0, reports: reports)
        try await store.commit([.keep(StoredRecord(Array("damaged".utf8)), ["a"]), .keep(StoredRecord([2]), ["b"])])
        var bytes = Array(try Data(contentsOf: url.appending(path: "records")))
        let index = try #require(bytes.indices.first { bytes[$0...].starts(with: "damaged".utf8) })
        bytes[index] ^= 1
        let file = try FileHandle(forWritingTo: url.appending(path: "records"))
        try file.write(contentsOf: Data(bytes))
        for _ in 0..<8 { try await store.commit([.keep(StoredRecord([3]), ["b"])]) }
        #expect(reports.all.map(\.key) == [["a"]])
        #expect(try await FileRecordStore.opened(url).contents() == [["b"]: [3]])
    }

    @Test func logTruncatedWhileOpenReturnsTheRemainingRecords() async throws {
        let url = directory.url.appending(path: "store")
        let store = FileRecordStore.opened(url)
        try await store.commit([.keep(StoredRecord([1]), ["a"])])
        let length = try Data(contentsOf: url.appending(path: "records")).count
        try await store.commit([.keep(StoredRecord([2]), ["a"]), .keep(StoredRecord([2]), ["b"])])
        let file = try FileHandle(forWritingTo: url.appending(path: "records"))
        try file.truncate(atOffset: UInt64(length))
        #expect(try await store.contents() == [["a"]: [1]])
        try await store.commit([.keep(StoredRecord([3]), ["c"])])
        #expect(try await FileRecordStore.opened(url).contents() == [["a"]: [1], ["c"]: [3]])
    }

    @Test func damagedDirectoryIsBounded() async throws {
        let url = directory.url.appending(path: "bounded")
        for number in 1...80 {
            try? FileManager.default.removeItem(at: url.appending(path: "records"))
            _ = try place([UInt8](repeating: 1, count: number < 80 ? 3_000 : 300_000), "bounded")
            #expect(try await FileRecordStore.opened(url).contents() == [:])
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: url.appending(path: "damaged").path())
        #expect(Set(files) == Set((17...80).map { String($0) }))
        let last = try Data(contentsOf: url.appending(path: "damaged/80"))
        #expect(last.count == DamagedRecords.byteLimit)
    }
}
