import Dispatch
import Foundation
import InwardRecordDirectories
import InwardRepositories
import Synchronization
import TestSupport
import Testing

@testable import InwardFileStores

/// Tests of versions, conditions and leases.
@Suite(.timeLimit(.minutes(5)))
struct FileRecordStoreSharingTests {
    private let directory: TemporaryDirectory
    private let url: URL
    private let clock = RecordClock()

    init() throws {
        directory = try TemporaryDirectory()
        url = directory.url.appending(path: "store")
    }

    private func conflict(
        _ store: FileRecordStore,
        _ condition: RecordCondition
    ) async throws -> RecordStoreError? {
        let before = try await store.contents()
        let error = await #expect(throws: RecordStoreError.self) {
            try await store.commit([.keep(StoredRecord([99]), ["conflict"]), .removeAll([])], if: [condition])
        }
        #expect(try await store.contents() == before)
        return error
    }

    // MARK: Versions

    @Test func versionsGrowAndSurviveReopeningAndRewriting() async throws {
        let store = FileRecordStore.opened(url, slack: 0)
        let first = try await store.keep(1, ["a"])
        let second = try await store.keep(2, ["b"])
        // The same bytes get a new version, too.
        let third = try await store.keep(1, ["a"])
        #expect(0 < first && first < second && second < third)
        func versions(of store: FileRecordStore) async throws -> [UInt64?] {
            try await store.snapshots(for: [["a"], ["b"], ["none"]]).map { $0?.version.number }
        }
        #expect(try await versions(of: FileRecordStore.opened(url)) == [third, second, nil])
        let inode = try FileManager.default.attributesOfItem(atPath: url.appending(path: "records").path())
        // While the file is open, no other file gets its number.
        let file = try FileHandle(forReadingFrom: url.appending(path: "records"))
        defer { try? file.close() }
        try await store.rewrite()
        let newInode = try FileManager.default.attributesOfItem(atPath: url.appending(path: "records").path())
        #expect(inode[.systemFileNumber] as? NSNumber != newInode[.systemFileNumber] as? NSNumber)
        #expect(try await versions(of: store) == [third, second, nil])
        #expect(try await versions(of: FileRecordStore.opened(url)) == [third, second, nil])
    }

    @Test(arguments: [false, true]) func versionsGrowAfterEverythingWasRemoved(isRewritten: Bool) async throws {
        let store = FileRecordStore.opened(url, slack: 0)
        var last: UInt64 = 0
        for removal in [.remove(["a"]), .removeAll([]), .removeAll(["a"])] as [RecordChange] {
            let version = try await store.keep(1, ["a"])
            #expect(version > last)
            let token = try #require(try await store.leaseOne()?.token)
            #expect(token > version)
            try await store.commit([removal])
            if isRewritten { try await store.rewrite() }
            last = token
        }
        #expect(try await FileRecordStore.opened(url).keep(1, ["b"]) > last)
    }

    @Test func twoStoresAtOnePlaceShareTheCounter() async throws {
        let stores = [FileRecordStore.opened(url, slack: 0), FileRecordStore.opened(url, slack: 0)]
        var numbers: [UInt64] = []
        for round in 0..<12 {
            let store = stores[round % 2]
            numbers.append(try await store.keep(UInt8(round), ["a"]))
            #expect(try await stores[1 - round % 2].snapshot(for: ["a"])?.version.number == numbers.last)
            if round % 3 == 0 { numbers.append(try #require(try await store.leaseOne(for: 0)).token) }
        }
        #expect(numbers == Set(numbers).sorted())
    }

    @Test func snapshotsAreReadAtOneMoment() async throws {
        let pair: [RecordKey] = [["pair", "1"], ["other"], ["pair", "2"]]
        let url = url
        try await withThrowingTaskGroup { group in
            group.addTask {
                let store = FileRecordStore.opened(url, slack: 4_096)
                for round in 0..<200 {
                    let record = StoredRecord([UInt8(round)])
                    try await store.commit([.keep(record, pair[0]), .keep(record, pair[2])])
                }
            }
            group.addTask {
                let store = FileRecordStore.opened(url)
                for _ in 0..<200 {
                    let snapshots = try await store.snapshots(for: pair)
                    #expect(snapshots[0]?.record == snapshots[2]?.record && snapshots[1] == nil)
                    let records = try await store.records(for: pair)
                    #expect(records[0] == records[2] && records[1] == nil)
                }
            }
            try await group.waitForAll()
        }
        let store = FileRecordStore.opened(url)
        let snapshots = try await store.snapshots(for: pair)
        #expect(snapshots[0]?.key == pair[0])
        let versions = snapshots.compactMap { $0?.version }
        #expect(versions.count == 2 && versions == versions.sorted())
        #expect(try await store.records(for: pair).map { $0?.bytes } == [[199], nil, [199]])
        #expect(try await store.records(for: []).isEmpty)
    }

    // MARK: Conditions

    @Test func commitIsMadeOnlyIfAllConditionsAreMet() async throws {
        let store = FileRecordStore.opened(url)
        let snapshot = { try await store.snapshot(for: ["a"]) }
        try await store.commit([.keep(StoredRecord([1]), ["a"])], if: [.isAbsent(["a"]), .isAbsent(["b"])])
        let old = try await snapshot()
        let version = try #require(old?.version)
        let error = try await conflict(store, .isAbsent(["a"]))
        #expect(error?.reason == .conflict)
        #expect(error?.explanation.contains("A record under a exists") == true)
        #expect(try await conflict(store, .hasVersion(RecordVersion(version.number + 1), ["a"]))?.reason == .conflict)
        #expect(try await conflict(store, .hasVersion(version, ["b"]))?.reason == .conflict)
        #expect(try await conflict(store, .isLeased(RecordLease(["a"], token: 7)))?.reason == .conflict)
        // A conflict has no version of its own.
        #expect(try await snapshot() == old)
        try await store.commit([.keep(StoredRecord([2]), ["a"])], if: [.isUnchanged(["a"], since: old)])
        #expect(try await store.record(for: ["a"])?.bytes == [2])
        #expect(try await conflict(store, .isUnchanged(["a"], since: old))?.reason == .conflict)
        try await store.commit([.remove(["a"])])
        #expect(try await conflict(store, .hasVersion(version, ["a"]))?.reason == .conflict)
        // One condition that is not met suffices.
        let both = await #expect(throws: RecordStoreError.self) {
            try await store.commit([.removeAll([])], if: [.isAbsent(["a"]), .hasVersion(version, ["a"])])
        }
        #expect(both == .conflict(.hasVersion(version, ["a"])))
        // Conditions are judged without changes, too.
        try await store.commit([], if: [.isAbsent(["a"])])
        await #expect(throws: RecordStoreError.self) { try await store.commit([], if: [.hasVersion(version, ["a"])]) }
    }

    @Test func conditionIsJudgedAgainstTheCommitsOfAnotherStore() async throws {
        let (store, other) = (FileRecordStore.opened(url), FileRecordStore.opened(url))
        _ = try await store.keep(1, ["a"])
        let old = try await store.snapshot(for: ["a"])
        _ = try await other.keep(1, ["a"])
        #expect(try await conflict(store, .isUnchanged(["a"], since: old))?.reason == .conflict)
    }

    /// Tries to add 1 to the byte of a record, and returns whether no other store was faster.
    private static func increment(_ key: RecordKey, in store: FileRecordStore) async throws -> Bool {
        let old = try await store.snapshot(for: key)
        let new = StoredRecord([(old?.record.bytes.first ?? 0) + 1])
        do throws(RecordStoreError) {
            try await store.commit([.keep(new, key)], if: [.isUnchanged(key, since: old)])
        } catch {
            guard error.reason == .conflict else { throw error }
            return false
        }
        return true
    }

    @Test func incrementsOfSeveralStoresAreNotLost() async throws {
        let url = url
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                let store = FileRecordStore.opened(url, slack: 4_096)
                group.addTask {
                    for _ in 0..<25 { while try await !Self.increment(["count"], in: store) {} }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await FileRecordStore.opened(url).contents() == [["count"]: [100]])
    }

    /// Makes commits as one group, and returns the indices of those that had a conflict, and the number of flushes of the group.
    private func makeGroup(_ commits: [RecordCommit]) async throws -> (failed: [Int], flushCount: Int) {
        let flushes = Mutex(-1)
        let isHeld = DispatchSemaphore(value: 0)
        let flushing = AsyncStream.makeStream(of: Void.self)
        let isReady = Mutex(false)
        let store = FileRecordStore.opened(url) { step in
            guard case .flush = step, isReady.withLock(\.self) else { return nil }
            let count = flushes.withLock { count in
                count += 1
                return count
            }
            if count == 0 {
                flushing.continuation.finish()
                isHeld.wait()
            }
            return nil
        }
        _ = try await store.contents()
        isReady.withLock { $0 = true }
        async let first: Void = store.commit([.keep(StoredRecord([]), ["first"])])
        for await _ in flushing.stream {}
        let failed = await withTaskGroup(of: Int?.self) { group in
            for (index, commit) in commits.enumerated() {
                let isMade = { @Sendable () async -> Int? in
                    do throws(RecordStoreError) {
                        try await store.commit(commit.changes, if: commit.conditions)
                    } catch {
                        #expect(error.reason == .conflict)
                        return index
                    }
                    return nil
                }
                // The task calls the store before the next task starts.
                if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, *) {
                    group.addImmediateTask { await isMade() }
                } else {
                    group.addTask { await isMade() }
                }
            }
            isHeld.signal()
            return await group.reduce(into: []) { failed, index in index.map { failed.append($0) } }
        }
        try await first
        return (failed.sorted(), flushes.withLock(\.self))
    }

    @Test func conflictDoesNotDisturbItsGroup() async throws {
        let outcome = try await makeGroup(
            (0..<64).map { index in
                RecordCommit(
                    [.keep(StoredRecord([UInt8(index)]), [String(index)])],
                    if: [index % 8 == 3 ? .hasVersion(RecordVersion(9), ["none"]) : .isAbsent(["none"])]
                )
            }
        )
        #expect(outcome.failed == stride(from: 3, to: 64, by: 8).map { $0 })
        #expect(outcome.flushCount < 8)
        #expect(try await FileRecordStore.opened(url).contents().count == 57)
    }

    @Test func conditionSeesTheEarlierCommitsOfItsGroup() async throws {
        let keep = RecordChange.keep(StoredRecord([1]), ["a", "1"])
        let outcome = try await makeGroup([
            RecordCommit([keep], if: [.isAbsent(["a", "1"])]),
            RecordCommit([keep], if: [.isAbsent(["a", "1"])]),
            RecordCommit([.removeAll(["a"])]),
            RecordCommit([keep], if: [.isAbsent(["a", "1"])]),
            RecordCommit([.remove(["a", "1"])]),
            RecordCommit([.removeAll(["first"])], if: [.isAbsent(["a", "1"])]),
            RecordCommit([.keep(StoredRecord([2]), ["b"])], if: [.isAbsent(["first"])]),
            RecordCommit([.keep(StoredRecord([3]), ["b"])], if: [.isAbsent(["b"])]),
        ])
        // The order of the group is that of the calls, which a system without immediate tasks does not define.
        guard #available(macOS 26, iOS 26, watchOS 26, tvOS 26, *) else { return }
        #expect(outcome.failed == [1, 7])
        #expect(outcome.flushCount == 1)
        #expect(try await FileRecordStore.opened(url).contents() == [["b"]: [2]])
    }

    @Test func expiredRecordIsAbsent() async throws {
        let store = FileRecordStore.opened(url, clock: clock)
        let expiry = clock.time.addingTimeInterval(10)
        let version = try await store.keep(1, ["a"], expiry: expiry)
        let lease = try #require(try await store.leaseOne(for: 100))
        clock.advance(by: 10)
        #expect(try await store.snapshot(for: ["a"]) == nil)
        #expect(try await store.records(for: [["a"]]) == [nil])
        #expect(try await conflict(store, .hasVersion(RecordVersion(version), ["a"])) != nil)
        #expect(try await conflict(store, .isLeased(lease)) != nil)
        #expect(try await !store.extend(lease, for: .seconds(100)))
        // The new record does not inherit the lease.
        try await store.commit([.keep(StoredRecord([2]), ["a"])], if: [.isAbsent(["a"])])
        #expect(try await conflict(store, .isLeased(lease)) != nil)
        #expect(try #require(try await store.leaseOne()).token > lease.token)
    }

    @Test func recordThatReplacesAnExpiredOneDoesNotInheritItsLease() async throws {
        let store = FileRecordStore.opened(url, clock: clock)
        _ = try await store.keep(1, ["a"], expiry: clock.time.addingTimeInterval(10))
        let lease = try #require(try await store.leaseOne(for: 100))
        clock.advance(by: 10)
        _ = try await store.keep(2, ["a"])
        #expect(try await !store.extend(lease, for: .seconds(100)))
        #expect(try #require(try await store.leaseOne()).token > lease.token)
    }

    // MARK: Leases

    @Test func recordsThatAreFreeForLongestAreLeasedFirst() async throws {
        let store = FileRecordStore.opened(url, clock: clock)
        for key in ["c", "a", "b"] {
            _ = try await store.keep(1, ["jobs", key])
            clock.advance(by: 1)
        }
        _ = try await store.keep(1, ["other"])
        #expect(try await store.lease(under: ["jobs"], limit: 0, for: .seconds(10)).isEmpty)
        let leased = try await store.lease(under: ["jobs"], limit: 2, for: .seconds(10))
        #expect(leased.map(\.lease.key) == [["jobs", "c"], ["jobs", "a"]])
        #expect(leased.map(\.snapshot) == (try await store.snapshots(for: [["jobs", "c"], ["jobs", "a"]])))
        #expect(try await store.leaseOne(under: ["jobs"], for: 30)?.key == ["jobs", "b"])
        #expect(try await store.leaseOne(under: ["jobs"]) == nil)
        clock.advance(by: 9.5)
        #expect(try await store.leaseOne(under: ["jobs"]) == nil)
        // Two leases end at the same moment, so the order is that of the keys.
        clock.advance(by: 0.5)
        let again = try await store.lease(under: ["jobs"], limit: .max, for: .seconds(10))
        #expect(again.map(\.lease.key) == [["jobs", "a"], ["jobs", "c"]])
        let tokens = (leased + again).map(\.lease.token)
        #expect(tokens == Set(tokens).sorted())
    }

    @Test(arguments: [false, true]) func leaseIsSharedAndSurvivesReopeningAndRewriting(isRewritten: Bool) async throws {
        let (store, other) = (FileRecordStore.opened(url, slack: 0), FileRecordStore.opened(url, slack: 0))
        _ = try await store.keep(1, ["a"])
        let lease = try #require(try await store.leaseOne())
        if isRewritten { try await store.rewrite() }
        for holder in [store, other, FileRecordStore.opened(url)] {
            #expect(try await holder.leaseOne(under: ["a"]) == nil)
            // The lease survives that the record is kept again.
            try await holder.commit([.keep(StoredRecord([2]), ["a"])], if: [.isLeased(lease)])
            #expect(try await holder.extend(lease, for: .seconds(20)))
        }
        #expect(try await other.extend(lease, for: .zero))
        let next = try #require(try await other.leaseOne(under: ["a"]))
        #expect(next.token > lease.token)
        if isRewritten { try await other.rewrite() }
        #expect(try await !store.extend(lease, for: .seconds(20)))
        #expect(try await conflict(store, .isLeased(lease))?.reason == .conflict)
        try await store.commit([.remove(["a"])], if: [.isLeased(next)])
    }

    @Test func leaseEndsWithTheRemovalOfItsRecord() async throws {
        let store = FileRecordStore.opened(url)
        for removal in [.remove(["a"]), .removeAll([])] as [RecordChange] {
            _ = try await store.keep(1, ["a"])
            let lease = try #require(try await store.leaseOne(for: 1_000))
            try await store.commit([removal])
            #expect(try await !store.extend(lease, for: .seconds(10)))
            #expect(try await conflict(store, .isLeased(lease)) != nil)
            _ = try await store.keep(1, ["a"])
            #expect(try await conflict(store, .isLeased(lease)) != nil)
            // The same happens within one commit.
            let last = try #require(try await store.leaseOne())
            #expect(last.token > lease.token)
            try await store.commit([removal, .keep(StoredRecord([1]), ["a"])])
            #expect(try await conflict(store, .isLeased(last)) != nil)
            try await store.commit([removal])
        }
    }

    @Test func extensionPostponesTheNextLease() async throws {
        let store = FileRecordStore.opened(url, clock: clock)
        _ = try await store.keep(1, ["a"])
        let lease = try #require(try await store.leaseOne(for: 10))
        clock.advance(by: 5)
        #expect(try await store.extend(lease, for: .seconds(60)))
        clock.advance(by: 59)
        #expect(try await FileRecordStore.opened(url, clock: clock).leaseOne() == nil)
        clock.advance(by: 1)
        // Until another instance leases the record, the holder of the ended lease can still use and extend it.
        try await store.commit([.keep(StoredRecord([2]), ["a"])], if: [.isLeased(lease)])
        #expect(try await store.extend(lease, for: .seconds(1)))
        clock.advance(by: 1)
        #expect(try await store.leaseOne() != nil)
    }

    @Test func severalWorkersDoNoJobTwice() async throws {
        let url = url
        let jobs = (0..<60).map { RecordKey(["jobs", String($0)]) }
        try await FileRecordStore.opened(url).commit(jobs.map { .keep(StoredRecord([1]), $0) })
        let done = try await withThrowingTaskGroup(of: [RecordKey].self) { group in
            for _ in 0..<4 {
                let store = FileRecordStore.opened(url, slack: 4_096)
                group.addTask {
                    var done: [RecordKey] = []
                    while true {
                        let leases = try await store.lease(under: ["jobs"], limit: 3, for: .seconds(10))
                        if leases.isEmpty { return done }
                        for (lease, _) in leases {
                            try await store.commit([.remove(lease.key)], if: [.isLeased(lease)])
                            done.append(lease.key)
                        }
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(done.sorted() == jobs.sorted())
        #expect(try await FileRecordStore.opened(url).contents() == [:])
    }

    @Test func leaseThatCannotBeWrittenIsNotGiven() async throws {
        let isFull = Atomic(false)
        let store = FileRecordStore.opened(url) { step in
            guard case .flush = step, isFull.load(ordering: .relaxed) else { return nil }
            return RecordFileFault(code: ENOSPC)
        }
        _ = try await store.keep(1, ["a"])
        isFull.store(true, ordering: .relaxed)
        let error = await #expect(throws: RecordStoreError.self) { try await store.leaseOne() }
        #expect(error?.reason == .full)
        isFull.store(false, ordering: .relaxed)
        #expect(try await FileRecordStore.opened(url).leaseOne() != nil)
    }

    @Test func leaseOfACancelledTaskIsNotMade() async throws {
        let store = FileRecordStore.opened(url)
        _ = try await store.keep(1, ["a"])
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await store.leaseOne()
        }
        let error = await #expect(throws: RecordStoreError.self) { try await task.value }
        #expect(error?.reason == .cancelled)
        #expect(try await store.leaseOne() != nil)
    }
}
