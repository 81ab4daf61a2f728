import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(5)))
struct RepositoryStoreTests {
    private static let day = Date(timeIntervalSinceReferenceDate: 800_000_000)

    private let clock = ManualClock()
    private let source = RemarkSource()
    private let records = RecordingRecordStore(InMemoryRecordStore(now: { day }))
    private let failures = RecordStoreFailures()

    /// Returns a repository over the store, as in a process that starts a number of seconds after the first one.
    private func repository(
        after seconds: Double = 0,
        partition: RecordKey = ["ada"],
        lifetimes: Lifetimes = Lifetimes(),
        memory: MemoryLimit = MemoryLimit(),
        source: (any DataFetcher)? = nil
    ) throws -> Repository<Remark> {
        let now = Self.day.addingTimeInterval(seconds)
        let place = RepositoryStore(records, partition: partition) {
            now
        } reportFailure: { [failures] error in
            failures.note(error)
        }
        return try .remarks(
            source ?? self.source,
            TimerService(clock),
            lifetimes: lifetimes,
            memory: memory,
            store: place
        )
    }

    private func fill(partition: RecordKey = ["ada"]) async throws {
        let repository = try repository(partition: partition)
        _ = try await repository.entities()
        _ = try await repository.entities(.author(7))
        await repository.flush()
    }

    /// Replaces the bytes of every record.
    private func damage(_ change: ([UInt8]) -> [UInt8]) async throws {
        for (key, record) in try await records.records(under: []) {
            try await records.commit([.keep(StoredRecord(change(record.bytes), expiry: record.expiry), key)])
        }
    }

    // MARK: Restarts

    @Test func storedValueIsFoundAfterARestartWithItsAge() async throws {
        try await fill()
        let again = try repository(after: 30)
        let one = try await again.entity(1)
        #expect(one == Reading(Remark(id: 1, author: 7, text: "one"), origin: .store, age: .seconds(30)))
        let all = try await again.entities()
        #expect(all.value.map(\.id) == [1, 2, 3] && all.origin == .store && all.age == .seconds(30))
        #expect(try await again.entities(.author(7)).value.map(\.id) == [1, 2])
        #expect(try await again.entity(1).origin == .memory)
        #expect(source.requests.count == 2)
        #expect(failures.all.isEmpty)
    }

    @Test func valueFromTheStoreIsNotStoredAgain() async throws {
        try await fill()
        let count = records.commits.count
        let again = try repository(after: 30)
        #expect(try await again.entity(1).origin == .store)
        #expect(try await again.entities().origin == .store)
        await again.flush()
        #expect(records.commits.count == count)
    }

    @Test func storedValueBecomesStaleAfterARestart() async throws {
        try await fill()
        let again = try repository(after: 60)
        let one = try await again.entity(1, .cacheOnly)
        #expect(one.isStale && one.age == .seconds(60))
        #expect(try await again.entity(1).origin == .upstream)
    }

    /// Only the stored value is too old. An intermediate cache may have a newer one, so the request does not bypass caches.
    @Test func valueThatIsTooOldInTheStoreIsRequestedWithCaches() async throws {
        try await fill()
        let again = try repository(after: 30)
        #expect(try await again.entity(1, .cacheFirst.notOlder(than: .seconds(29))).origin == .upstream)
        #expect(source.requests.map { $0.headerFields[.cacheControl] } == [nil, nil, nil])
    }

    @Test func delayCountsTowardTheAgeInTheStore() async throws {
        source.send(.age, "20")
        try await fill()
        #expect(try await repository(after: 30).entity(1).age == .seconds(50))
    }

    @Test func storedValueReplacesAnError() async throws {
        try await fill()
        source.fail(.unreachable)
        let again = try repository(after: 600)
        let reading = try await again.entities(.all, .upstreamFirst)
        #expect(reading.origin == .store && reading.isStale && reading.age == .seconds(600))
        #expect(reading.fallbackReason?.reason == .unavailable)
    }

    @Test func damagedRecordsAreNamedAfterARestart() async throws {
        source.answer(body: #"[{"id": 1, "author": 7, "text": "one"}, {"id": 2}]"#)
        try await fill()
        #expect(try await repository().entities().rejected.map(\.description) == ["remarks[1].author is missing"])
    }

    @Test func changedEntityLeavesAStoredListThatItNoLongerMatches() async throws {
        let first = try repository()
        _ = try await first.entities(.author(7))
        source.put(Remark(id: 1, author: 8, text: "moved"))
        _ = try await first.entity(1, .upstreamOnly)
        await first.flush()
        #expect(try await repository().entities(.author(7)).value.map(\.id) == [2])
    }

    @Test func storedListIsAsOldAsItsOldestEntity() async throws {
        // The early process requests the entity before the late one, and stores it after it.
        let (early, late) = (try repository(memory: .nothing), try repository(after: 50, memory: .nothing))
        _ = try await late.entities()
        await late.flush()
        _ = try await early.entity(1)
        await early.flush()
        let again = try repository(after: 70)
        let all = try await again.entities(.all, .cacheOnly)
        #expect(all.age == .seconds(70) && all.isStale)
    }

    /// A process that is killed after the creation returns must leave no outdated records for the next process.
    @Test(arguments: [nil, FetchError.Reason.timedOut])
    func storeIsUpToDateWhenACreationReturns(failure: FetchError.Reason?) async throws {
        let scheduler = DeterministicScheduler(seed: 7)
        let slow = SlowRecordStore(records, timer: scheduler.timer)
        let place = RepositoryStore(slow, partition: ["ada"]) {
            Self.day
        } reportFailure: { [failures] error in
            failures.note(error)
        }
        try await fill()
        try await scheduler.run {
            let repository = try Repository<Remark>.remarks(source, scheduler.timer, store: place)
            source.fail(failure)
            let sent = try? await repository.send(Remark(id: 4, author: 7, text: "four"))
            #expect((sent == nil) == (failure != nil))
            source.fail(.unreachable)
            let again = try self.repository()
            await #expect(throws: RepositoryError.self) { try await again.entities() }
            #expect(await again.failure(4) == (failure == nil ? nil : .unavailable))
        }
    }

    @Test func writtenEntityIsFoundAfterARestart() async throws {
        let first = try repository()
        _ = try await first.entities()
        _ = try await first.send(Remark(id: 4, author: 7, text: "four"))
        await first.flush()
        let again = try repository()
        #expect(try await again.entities().value.map(\.id) == [1, 2, 3, 4])
        #expect(try await again.entity(4).value.text == "four")
        #expect(source.requests.count == 2)
    }

    @Test func listThatIsOnlyInTheStoreIsForgottenAfterAWrite() async throws {
        try await fill()
        let again = try repository()
        _ = try await again.send(Remark(id: 4, author: 7, text: "four"))
        await again.flush()
        #expect(try await repository().entities(.author(7)).value.map(\.id) == [1, 2, 4])
    }

    @Test func missingEntityIsRemovedFromTheStore() async throws {
        let first = try repository()
        _ = try await first.entities()
        source.remove(2)
        #expect(await first.failure(2, .upstreamOnly) == .notFound)
        await first.flush()
        let again = try repository()
        #expect(await again.failure(2, .cacheOnly) == .unavailable)
        #expect((try? await again.entities(.all, .cacheOnly)) == nil)
    }

    @Test func invalidationRemovesStoredRecords() async throws {
        let first = try repository()
        _ = try await first.entities()
        first.invalidate(under: ["users", "7"])
        await first.flush()
        #expect(try await records.records(under: []).isEmpty)
        #expect(await first.failure(1, .cacheOnly) == .unavailable)
    }

    @Test func invalidationIsStoredBeforeTheNextStoreRead() async throws {
        try await fill()
        let again = try repository()
        again.invalidateAll()
        #expect(await again.failure(1, .cacheOnly) == .unavailable)
    }

    @Test func partitionsAreIsolated() async throws {
        try await fill(partition: ["ada"])
        let bob = try repository(partition: ["bob"])
        #expect(await bob.failure(1, .cacheOnly) == .unavailable)
        #expect((try? await bob.entities(.all, .cacheOnly)) == nil)
        bob.invalidateAll()
        await bob.flush()
        #expect(await (try repository(partition: ["ada"])).failure(1, .cacheOnly) == nil)
    }

    @Test func storeAnswersWithoutRoomInMemory() async throws {
        try await fill()
        let again = try repository(after: 30, memory: .nothing)
        for _ in 0..<2 { #expect(try await again.entity(1).origin == .store) }
        #expect(try await again.entities().origin == .store)
        #expect(source.requests.count == 2)
    }

    @Test func storedListTakesAsMuchRoomAsItsEntities() async throws {
        try await fill()
        // An entity has about 30 bytes.
        for (bytes, origin) in [(60, Origin.store), (600, .memory)] {
            let again = try repository(after: 30, memory: MemoryLimit(count: 10, bytes: bytes))
            #expect(try await again.entities().origin == .store)
            #expect(try await again.entities().origin == origin)
        }
    }

    @Test func valueInMemoryIsNotReadFromTheStore() async throws {
        let looks = Mutex(0)
        let store = HeldRecordStore(base: records) { looks.withLock { $0 += 1 } }
        let place = RepositoryStore(store, partition: []) {
            Self.day
        } reportFailure: { _ in
        }
        let repository = try Repository<Remark>.remarks(source, TimerService(clock), store: place)
        _ = try await repository.entity(1)
        clock.advance(by: .seconds(60))
        #expect(try await repository.entity(1).origin == .upstream)
        #expect(looks.withLock(\.self) == 1)
    }

    // MARK: Unusable records

    @Test(arguments: [0, 2, 255] as [UInt8])
    func recordOfAnUnknownVersionIsIgnored(version: UInt8) async throws {
        try await fill()
        try await damage { [version] + $0.dropFirst() }
        let again = try repository()
        #expect(await again.failure(1, .cacheOnly) == .unavailable)
        #expect((try? await again.entities(.all, .cacheOnly)) == nil)
        #expect(try await again.entity(1).origin == .upstream)
    }

    @Test(arguments: [0, 5, 9, 20])
    func truncatedRecordIsIgnored(length: Int) async throws {
        try await fill()
        try await damage { Array($0.prefix(length)) }
        let again = try repository()
        #expect(await again.failure(1, .cacheOnly) == .unavailable)
        #expect((try? await again.entities(.all, .cacheOnly)) == nil)
    }

    @Test func recordWithAnotherIdentifierIsIgnored() async throws {
        try await fill()
        let kept = try #require(try await records.record(for: ["ada", "remarks", "one", "2"]))
        try await records.commit([.keep(kept, ["ada", "remarks", "one", "1"])])
        let again = try repository()
        #expect(await again.failure(1, .cacheOnly) == .unavailable)
        #expect((try? await again.entities(.all, .cacheOnly)) == nil)
        #expect(await again.failure(2, .cacheOnly) == nil)
    }

    @Test func storedListWithAMissingEntityIsIgnored() async throws {
        try await fill()
        try await records.commit([.remove(["ada", "remarks", "one", "3"])])
        let again = try repository()
        #expect((try? await again.entities(.all, .cacheOnly)) == nil)
        #expect(try await again.entities(.author(7), .cacheOnly).value.map(\.id) == [1, 2])
    }

    @Test(arguments: [Lifetimes(), Lifetimes(staleAfter: .seconds(60), expiresAfter: .seconds(10))])
    func clockSetBackDoesNotMakeOldAnswersFresh(lifetimes: Lifetimes) async throws {
        try await fill()
        let again = try repository(after: -1, lifetimes: lifetimes)
        let reading = try? await again.entity(1, .cacheOnly)
        #expect(reading?.isStale != false)
        #expect(reading?.age != .zero)
        #expect(try await again.entity(1).origin == .upstream)
    }

    @Test(arguments: [1e300, -1e300, .nan, .infinity])
    func impossibleTimeInARecordDoesNotTrap(seconds: Double) async throws {
        try await fill()
        try await damage { bytes in
            StoredAnswer(time: Date(timeIntervalSinceReferenceDate: seconds), body: Data(bytes.dropFirst(9))).bytes
        }
        let again = try repository()
        #expect((try? await again.entity(1, .cacheOnly))?.isStale != false)
        #expect(try await again.entity(1).origin == .upstream)
    }

    // MARK: Store failures

    @Test(arguments: [RecordStoreError.Reason.full, .denied])
    func storeFailureIsReportedAndMemoryContinues(reason: RecordStoreError.Reason) async throws {
        records.fail(with: RecordStoreError(reason, explanation: "failed"))
        let repository = try repository()
        #expect(try await repository.entity(1).origin == .upstream)
        await repository.flush()
        #expect(failures.all == [reason, reason])
        #expect(try await repository.entity(1).origin == .memory)
        records.fail(with: nil)
        #expect(try await repository.entity(2).origin == .upstream)
        await repository.flush()
        #expect(await (try self.repository()).failure(2, .cacheOnly) == nil)
    }

    @Test func recordThatCouldNotBeRemovedIsNotReturned() async throws {
        try await fill()
        let again = try repository()
        source.put(Remark(id: 1, author: 7, text: "anew"))
        records.fail(with: RecordStoreError(.full, explanation: "failed"))
        again.invalidateAll()
        await again.flush()
        records.fail(with: nil)
        #expect(try await again.entities(.author(7)).origin == .upstream)
        #expect(try await again.entity(1).value.text == "anew")
        await again.flush()
        // The outdated records are removed by now.
        let third = try repository()
        #expect(await third.failure(3, .cacheOnly) == .unavailable)
        #expect(try await third.entity(1, .cacheOnly).value.text == "anew")
        #expect(failures.all == [.full])
        // The store is read again.
        _ = try await again.entity(3)
        await again.flush()
        #expect(await (try self.repository()).failure(3, .cacheOnly) == nil)
    }

    @Test func writeThatCouldNotBeStoredHidesTheOldRecord() async throws {
        try await fill()
        let again = try repository(memory: .nothing)
        records.fail(with: RecordStoreError(.full, explanation: "failed"))
        _ = try await again.send(Remark(id: 1, author: 7, text: "written"))
        await again.flush()
        records.fail(with: nil)
        #expect(try await again.entity(1).value.text == "written")
    }

    @Test func storeFailureIsReportedOnceForConcurrentReads() async throws {
        let scheduler = DeterministicScheduler(seed: 7)
        records.fail(with: RecordStoreError(.denied, explanation: "failed"))
        let held = HeldRecordStore(base: records) { try? await scheduler.clock.sleep(for: .seconds(1)) }
        let place = RepositoryStore(held, partition: []) {
            Self.day
        } reportFailure: { [failures] error in
            failures.note(error)
        }
        let repository = try Repository<Remark>.remarks(source, scheduler.timer, store: place)
        try await scheduler.run {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<100 { group.addTask { _ = await repository.failure(1, .cacheOnly) } }
            }
        }
        #expect(failures.all == [.denied])
    }

    @Test func writeDuringAStoreReadIsReturned() async throws {
        try await fill()
        let scheduler = DeterministicScheduler(seed: 7)
        let held = HeldRecordStore(base: records) { try? await scheduler.clock.sleep(for: .seconds(1)) }
        let place = RepositoryStore(held, partition: ["ada"]) {
            Self.day
        } reportFailure: { _ in
        }
        let repository = try Repository<Remark>.remarks(source, scheduler.timer, store: place)
        let text = try await scheduler.run {
            async let found = repository.entity(1)
            try await scheduler.clock.sleep(for: .seconds(0.5))
            _ = try await repository.send(Remark(id: 1, author: 7, text: "written"))
            return try await found.value.text
        }
        #expect(text == "written")
    }

    @Test func storeWriteIgnoresTheDeadlineOfItsCaller() async throws {
        let scheduler = DeterministicScheduler(seed: 7)
        let deadlines = Mutex<[Bool]>([])
        let store = WatchedRecordStore(base: records) { deadlines.withLock { $0.append(Deadline.current != nil) } }
        let place = RepositoryStore(store, partition: []) {
            Self.day
        } reportFailure: { _ in
        }
        let repository = try Repository<Remark>.remarks(source, scheduler.timer, store: place)
        try await scheduler.run {
            _ = await Deadline(in: .seconds(1), on: scheduler.timer).bound { repository.invalidateAll() }
            await repository.flush()
        }
        #expect(deadlines.withLock(\.self) == [false])
    }

    @Test func processKilledAfterAWriteLeavesNoOlderVersion() async throws {
        let scheduler = DeterministicScheduler(seed: 7)
        let slow = SlowRecordStore(records, timer: scheduler.timer)
        let place = RepositoryStore(slow, partition: ["ada"]) {
            Self.day
        } reportFailure: { _ in
        }
        let repository = try Repository<Remark>.remarks(source, scheduler.timer, store: place)
        try await scheduler.run {
            _ = try await repository.entities()
            await repository.flush()
            _ = try await repository.send(Remark(id: 4, author: 7, text: "four"))
            // This process does nothing more.
            let again = try self.repository(source: StubDataFetcher(failing: .unreachable))
            #expect(try await again.entities(.all, .cacheOnly).value.map(\.id) == [1, 2, 3, 4])
        }
    }
}
