import Foundation
import InwardRecordDirectories
import InwardRepositories
import Synchronization
import TestSupport
import Testing
import Thoroughness

@testable import InwardFileStores

/// Tests of versions and leases in logs that are old, damaged, or left behind by a process that ended.
@Suite(.timeLimit(.minutes(5)))
struct FileRecordStoreSharingDamageTests {
    private let directory: TemporaryDirectory
    private let url: URL

    init() throws {
        directory = try TemporaryDirectory()
        url = directory.url.appending(path: "store")
    }

    private var log: URL { url.appending(path: "records") }

    /// Creates a directory that contains the given log.
    private func place(_ bytes: [UInt8], _ name: String) throws -> URL {
        let url = directory.url.appending(path: name)
        try? FileManager.default.removeItem(at: url)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try Data(bytes).write(to: url.appending(path: "records"))
        return url
    }

    /// Returns the bytes of a frame.
    private func frame(_ operations: [RecordOperation], at offset: Int) -> [UInt8] {
        var builder = RecordFrameBuilder()
        for operation in operations { builder.add(operation) }
        let frame = builder.frame(at: offset)
        return frame.head + frame.tail
    }

    /// Returns a log as an older program writes it.
    private func oldLog(_ records: [(RecordKey, StoredRecord)]) -> [UInt8] {
        var bytes = RecordLogHeader.bytes()
        for (count, (key, record)) in records.enumerated() {
            var builder = RecordFrameBuilder()
            builder.add(.setDurableCount(before: count, after: count + 1))
            builder.add(.keep(record, key))
            let frame = builder.frame(at: bytes.count)
            bytes += frame.head + frame.tail
        }
        return bytes
    }

    // MARK: Older programs

    @Test func recordsOfAnOlderProgramHaveTheVersionZeroAndAreFree() async throws {
        let expiry = FileRecordStore.testTime.addingTimeInterval(10)
        let old = oldLog([(["b"], StoredRecord([2], expiry: expiry)), (["a"], StoredRecord([1]))])
        // The codes of the operations are those that the older program knows.
        #expect(old[RecordLogHeader.length + RecordFrame.prefixLength + 25] == 2)
        let url = try place(old, "old")
        let reports = RecordDamageReports()
        let clock = RecordClock()
        let store = FileRecordStore.opened(url, slack: 0, clock: clock, reports: reports)
        let snapshots = try await store.snapshots(for: [["a"], ["b"]])
        #expect(snapshots.map { $0?.version } == [RecordVersion(0), RecordVersion(0)])
        #expect(snapshots.map { $0?.record } == [StoredRecord([1]), StoredRecord([2], expiry: expiry)])
        // Reading changed nothing, so the older program can still be used.
        #expect(try Data(contentsOf: url.appending(path: "records")) == Data(old))
        #expect(try await store.keep(3, ["0"]) > 0)
        // The old records have been free since the beginning, and the new one since it was created.
        clock.advance(by: 1)
        let leases = try await store.lease(under: [], limit: 2, for: .seconds(60))
        #expect(leases.map(\.lease.key) == [["a"], ["b"]])
        #expect(leases.allSatisfy { $0.lease.token > 0 && $0.snapshot.version == RecordVersion(0) })
        try await store.rewrite()
        #expect(try await FileRecordStore.opened(url, clock: clock).leaseOne()?.key == ["0"])
        try await store.commit(
            [.keep(StoredRecord([4]), ["a"])],
            if: [.hasVersion(RecordVersion(0), ["a"]), .isLeased(leases[0].lease)]
        )
        #expect(try #require(try await store.snapshot(for: ["a"])).version.number > leases[1].lease.token)
        #expect(reports.all == [])
    }

    @Test func olderProgramRefusesALogWithVersionsOrLeases() throws {
        let stamp = RecordStamp(version: 1)
        let entry = RecordEntry(offset: 0, length: 0, checksum: 0, expiry: nil, stamp: stamp)
        let expiring = RecordEntry(offset: 0, length: 0, checksum: 0, expiry: .distantFuture, stamp: stamp)
        let operations: [RecordOperation] = [
            .keep([], entry), .keep([], expiring), .lease([], token: 1, end: .distantFuture), .setLastNumber(1),
        ]
        for (index, operation) in operations.enumerated() {
            var bytes: [UInt8] = []
            RecordOperationCoding.encode(operation, into: &bytes)
            // The last code that it knows is 7.
            #expect(bytes.first == UInt8(8 + index))
            #expect(try RecordOperationCoding.operations(of: bytes, body: 0..<0) == [operation])
            // An incomplete operation is not one.
            #expect(try RecordOperationCoding.operations(of: bytes.dropLast(), body: 0..<0) == nil)
        }
    }

    // MARK: Damage

    /// The records, their versions and their leases that a store of damaged bytes may return.
    private struct Expectation {
        var versions: [RecordKey: [UInt64: [UInt8]]] = [:]
        var leases: [RecordLease] = []
        var numbers: [UInt64] = []
    }

    /// Writes a log with versions and leases.
    private func writeLog(isRewritten: Bool) async throws -> (bytes: [UInt8], expected: Expectation) {
        let store = FileRecordStore.opened(url, slack: isRewritten ? 0 : 1 << 20)
        var expected = Expectation()
        for round in 0..<3 as Range<UInt8> {
            for key in [["a"], ["b", "1"], ["b", "2"]] as [RecordKey] {
                let byte = round * 16 + UInt8(key.components.count)
                let version = try await store.keep(byte, key)
                expected.versions[key, default: [:]][version] = [byte]
                expected.numbers.append(version)
            }
            let lease = try #require(try await store.leaseOne(under: ["b"], for: 1_000))
            expected.leases.append(lease)
            expected.numbers.append(lease.token)
            if round == 1 {
                #expect(try await store.extend(lease, for: .zero))
                try await store.commit([.remove(["b", "1"])])
            }
        }
        if isRewritten { try await store.rewrite() }
        expected.numbers += [store.log.view.withLock(\.index.lastNumber)]
        return (Array(try Data(contentsOf: log)), expected)
    }

    /// Whether the log is rewritten, and what is changed in a byte.
    private static let changes: [(Bool, UInt8)] = [(false, 0xFF), (false, 0x01), (true, 0xFF), (true, 0x01)]

    @Test(arguments: Thoroughness.sample(changes, every: 3))
    func changedByteNeverCausesAWrongVersionOrAnOldNumber(isRewritten: Bool, mask: UInt8) async throws {
        let (log, expected) = try await writeLog(isRewritten: isRewritten)
        for index in Thoroughness.damaged(log.indices, by: mask, every: Thoroughness.isExhaustive ? 13 : 23) {
            var bytes = log
            bytes[index] ^= mask
            let store = FileRecordStore.opened(try place(bytes, "changed"))
            for (key, versions) in expected.versions {
                guard let snapshot = try await store.snapshot(for: key) else { continue }
                #expect(versions[snapshot.version.number] == snapshot.record.bytes, "after a change of byte \(index)")
            }
            // Only the last leases are valid.
            for lease in expected.leases.dropLast(2) {
                #expect(try await !store.extend(lease, for: .seconds(1)), "after a change of byte \(index)")
            }
            let number = try await store.keep(1, ["new"])
            #expect(expected.numbers.allSatisfy { $0 < number }, "after a change of byte \(index)")
            let token = try #require(try await store.leaseOne(under: ["new"])?.token)
            #expect(token > number, "after a change of byte \(index)")
        }
    }

    /// A commit whose both heads are damaged is lost. The log still shows that its numbers are used.
    @Test func lostCommitDoesNotSetTheCounterBack() async throws {
        let whole = try await writeLog(isRewritten: false)
        let heads = whole.bytes.indices.filter { whole.bytes[$0...].starts(with: Array("RECORDS{".utf8)) }
        #expect(heads.count > 12)
        for (start, end) in zip(heads, heads.dropFirst() + [whole.bytes.count]) {
            var bytes = whole.bytes
            for index in start..<end { bytes[index] = 0 }
            let url = try place(bytes, "lost")
            for store in [FileRecordStore.opened(url), FileRecordStore.opened(url)] {
                let number = try await store.keep(1, ["new"])
                #expect(whole.expected.numbers.allSatisfy { $0 < number }, "at \(start)")
            }
        }
        // The same applies if nothing of the log is left but its length.
        let store = FileRecordStore.opened(try place([UInt8](repeating: 0, count: whole.bytes.count), "lost"))
        let number = try await store.keep(1, ["new"])
        #expect(whole.expected.numbers.allSatisfy { $0 < number })
    }

    /// The partial commit of a killed process may have reserved numbers.
    @Test func incompleteCommitDoesNotSetTheCounterBack() async throws {
        let (log, expected) = try await writeLog(isRewritten: false)
        let last = try #require(log.indices.last { log[$0...].starts(with: Array("RECORDS{".utf8)) })
        for length in Thoroughness.sample(last + 1..<log.count, every: 17) {
            let store = FileRecordStore.opened(try place(Array(log.prefix(length)), "cut"))
            let number = try await store.keep(1, ["new"])
            #expect(expected.numbers.allSatisfy { $0 < number }, "truncated to \(length) bytes")
        }
    }

    /// A log that was cut off between two commits looks undamaged, but a process that has it open knows better.
    @Test(arguments: [false, true]) func openStoreRemembersTheCounter(isRemoved: Bool) async throws {
        let store = FileRecordStore.opened(url)
        _ = try await store.keep(1, ["a"])
        let length = try Data(contentsOf: log).count
        let last = try await store.keep(2, ["a"])
        if isRemoved {
            try FileManager.default.removeItem(at: url)
        } else {
            let file = try FileHandle(forWritingTo: log)
            try file.truncate(atOffset: UInt64(length))
        }
        #expect(try await store.contents() == (isRemoved ? [:] : [["a"]: [1]]))
        let next = try await store.keep(3, ["a"])
        #expect(next > last)
        // From then on, every process knows it.
        #expect(try await FileRecordStore.opened(url).keep(4, ["a"]) > next)
    }

    @Test func unreadableCommitRevokesTheLeases() async throws {
        let store = FileRecordStore.opened(url)
        _ = try await store.keep(1, ["a"])
        let first = try #require(try await store.leaseOne(for: 0))
        let start = try Data(contentsOf: log).count
        let second = try #require(try await store.leaseOne(for: 0))
        let end = try Data(contentsOf: log).count
        _ = try await store.keep(1, ["b"])
        var bytes = Array(try Data(contentsOf: log))
        for index in start..<end { bytes[index] = 0 }
        let damaged = FileRecordStore.opened(try place(bytes, "damaged"))
        for lease in [first, second] {
            let error = await #expect(throws: RecordStoreError.self) {
                try await damaged.commit([.remove(["a"])], if: [.isLeased(lease)])
            }
            #expect(error?.reason == .conflict)
            #expect(try await !damaged.extend(lease, for: .seconds(1)))
        }
        #expect(try #require(try await damaged.leaseOne(under: ["a"])).token > second.token)
        // A lost lease is not a lost record.
        #expect(try await damaged.losses(under: []) == RecordLosses())
    }

    @Test func damagedRecordIsNotLeased() async throws {
        let reports = RecordDamageReports()
        let store = FileRecordStore.opened(url, reports: reports)
        for key in ["a", "b", "c"] { try await store.commit([.keep(StoredRecord(Array("job \(key)".utf8)), [key])]) }
        try log.changeByte(of: Array("job a".utf8))
        let leases = try await store.lease(under: [], limit: 2, for: .seconds(10))
        #expect(leases.map(\.lease.key) == [["b"], ["c"]])
        #expect(reports.all.map(\.key) == [["a"]])
        #expect(try await store.losses(under: []).keys == [["a"]])
        try await store.commit([], if: [.isAbsent(["a"]), .isLeased(leases[0].lease)])
    }

    // MARK: Crashes

    /// The limit for garbage, and the number of bytes that are written in the last step.
    private static let crashes = [0, 1 << 20].flatMap { slack in [0, 60, 150, 10_000].map { (slack, $0) } }

    /// Ends the process at each step in turn, after it has written the given number of bytes in that step.
    @Test(arguments: Thoroughness.sample(crashes, every: 3))
    func numbersAndLeasesSurviveTheEndOfTheProcessAtAnyStep(slack: Int, writtenCount: Int) async throws {
        var hasEnded = false
        var step = 0
        while !hasEnded {
            let url = directory.url.appending(path: "crash-\(step)")
            let steps = Mutex(0)
            var (numbers, lease, isExtended) = ([UInt64](), RecordLease?.none, false)
            do {
                let store = FileRecordStore.opened(url, slack: slack) { [step] _ in
                    let current = steps.withLock { steps in
                        defer { steps += 1 }
                        return steps
                    }
                    guard current >= step else { return nil }
                    return RecordFileFault(code: EIO, writtenCount: current == step ? writtenCount : 0)
                }
                do {
                    numbers.append(try await store.keep(1, ["a"]))
                    lease = try await store.leaseOne(for: 1_000)
                    numbers.append(lease?.token ?? 0)
                    for byte in 2..<6 as Range<UInt8> { numbers.append(try await store.keep(byte, ["a"])) }
                    if let lease { isExtended = try await store.extend(lease, for: .zero) }
                    try await store.commit([.removeAll(["none"])], if: lease.map { [.isLeased($0)] } ?? [])
                    _ = try await store.keep(7, ["a"])
                } catch {}
            }
            hasEnded = steps.withLock(\.self) <= step
            let store = FileRecordStore.opened(url)
            if let lease {
                // The lease is as durable as the record.
                try await store.commit([], if: [.isLeased(lease)])
                // The extension may have been made although the process ended before it was reported.
                if isExtended { #expect(try await store.leaseOne(under: ["a"]) != nil, "at step \(step)") }
                if numbers.count < 6 { #expect(try await store.leaseOne(under: ["a"]) == nil, "at step \(step)") }
            }
            let number = try await store.keep(9, ["new"])
            #expect(numbers.allSatisfy { $0 < number }, "at step \(step)")
            try FileManager.default.removeItem(at: url)
            step += Thoroughness.stride(sampling: 5)
        }
        #expect(step > 20)
    }

    /// Only flushed data survives.
    @Test(arguments: [0, 1 << 20]) func leasesAndNumbersSurviveAPowerFailure(slack: Int) async throws {
        let disk = FlushedFiles(of: url)
        let store = FileRecordStore.opened(url, slack: slack) { step in
            disk.begin(step)
            return nil
        }
        for round in 0..<6 {
            let version = try await store.keep(1, ["a", String(round)])
            let lease = try #require(try await store.leaseOne(for: 1_000))
            #expect(try await store.extend(lease, for: .seconds(2_000)))
            let copy = directory.url.appending(path: "survivor-\(round)")
            try disk.write(to: copy)
            let survivor = FileRecordStore.opened(copy)
            #expect(try await survivor.snapshot(for: lease.key)?.version.number == version)
            #expect(try await survivor.leaseOne() == nil)
            try await survivor.commit([], if: [.isLeased(lease)])
            #expect(try await survivor.keep(1, ["new"]) > lease.token)
        }
    }
}
