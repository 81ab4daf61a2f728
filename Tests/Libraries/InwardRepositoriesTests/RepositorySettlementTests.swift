import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import TestSupport
import Testing
import Thoroughness

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Tests of what a process finds after an earlier one was killed during deliveries.
@Suite(.timeLimit(.minutes(5)))
struct RepositorySettlementTests {
    /// The delays of commits, requests and responses.
    private struct Delays: Sendable {
        var listCommit: @Sendable () -> Duration = { .zero }
        var settlementCommit: @Sendable () -> Duration = { .zero }
        var arrival: @Sendable (DataRequest.Method) -> Duration = { _ in .zero }
        var departure: @Sendable (DataRequest.Method) -> Duration = { _ in .zero }
    }

    /// A process with a repository of remarks and its outbox. It records what another process would find at each moment.
    private final class Stage: Sendable {
        private static let day = Date(timeIntervalSinceReferenceDate: 800_000_000)

        let repository: Repository<Remark>
        let outbox: Outbox
        private let source: RemarkSource
        private let timer: TimerService
        private let moments: Moments
        /// The idempotency keys of the writes, by the identifiers of the remarks that they create.
        private let keys = Mutex<[Int: String]>([:])

        init(_ scheduler: DeterministicScheduler, _ delays: Delays) throws {
            let timer = scheduler.timer
            let source = RemarkSource { request in
                try await timer.sleep(for: delays.arrival(request.method))
            } departure: { request in
                try await timer.sleep(for: delays.departure(request.method))
            }
            let moments = Moments()
            let records = TimedRecordStore(InMemoryRecordStore(now: { Self.day }), timer: timer) { changes in
                if changes.contains(where: \.keepsList) { return delays.listCommit() }
                return changes.contains(where: \.removesEntry) ? delays.settlementCommit() : .zero
            } afterCommit: { snapshot in
                moments.add(snapshot, Set(source.remarks.map(\.id)))
            }
            self.timer = timer
            self.source = source
            self.moments = moments
            let upstream = try Upstream.example(source)
            outbox = Outbox(
                upstream: upstream,
                store: records,
                timer: timer,
                now: { Self.day },
                generator: SplitMix64(seed: scheduler.seed),
                errorHandler: IgnoringErrorHandler()
            )
            repository = try .remarks(source, timer, store: Self.place(records), outbox: outbox, chance: { 0.5 })
        }

        private static func place(_ records: any RecordStore) -> RepositoryStore {
            RepositoryStore(records, partition: []) {
                Self.day
            } reportFailure: { _ in
            }
        }

        func open() async throws { try await outbox.open(handlers: [repository.handler]) }

        func create(_ id: Int) async throws {
            _ = try await repository.create(RemarkDTO(Remark(id: id, author: 7, text: "text")))
            let entry = try #require(outbox.pending.last)
            keys.withLock { $0[id] = entry.idempotencyKey }
        }

        /// Starts a process from the state after each commit.
        ///
        /// - Returns: the number of stored lists that were found, and the delivered remarks that one of them lacked.
        func restart() async throws -> (listCount: Int, missing: Set<Int>) {
            var listCount = 0
            var missing: Set<Int> = []
            for moment in moments.all {
                let records = InMemoryRecordStore(now: { Self.day })
                try await records.commit(moment.records.map { .keep($0.record, $0.key) })
                let again = try Repository.remarks(source, timer, store: Self.place(records))
                guard let list = try? await again.entities(.all, .cacheOnly), !list.isStale else { continue }
                listCount += 1
                let pending = Set(moment.records.flatMap(\.key.components))
                let delivered = keys.withLock { $0.filter { !pending.contains($0.value) } }.map(\.key)
                missing.formUnion(Set(delivered).intersection(moment.created).subtracting(list.value.map(\.id)))
            }
            return (listCount, missing)
        }
    }

    /// The contents of the store and the upstream after each commit.
    private final class Moments: Sendable {
        private let moments = Mutex<[(records: TimedRecordStore.Snapshot, created: Set<Int>)]>([])

        var all: [(records: TimedRecordStore.Snapshot, created: Set<Int>)] { moments.withLock(\.self) }

        func add(_ records: TimedRecordStore.Snapshot, _ created: Set<Int>) {
            moments.withLock { $0.append((records, created)) }
        }
    }

    @Test(arguments: [(5, 1), (1, 5)])
    func listStoredDuringADeliveryContainsTheCreatedEntity(list: Int, settlement: Int) async throws {
        let scheduler = DeterministicScheduler(seed: 7)
        var delays = Delays()
        delays.listCommit = { .seconds(list) }
        delays.settlementCommit = { .seconds(settlement) }
        delays.departure = { $0 == .post ? .seconds(2) : .zero }
        let stage = try Stage(scheduler, delays)
        try await scheduler.run {
            try await stage.open()
            _ = try await stage.repository.entities()
            try await stage.create(4)
            await stage.outbox.drain()
            await stage.repository.flush()
            await stage.outbox.close()
        }
        let found = try await stage.restart()
        #expect(found.missing == [])
        #expect(found.listCount > 0)
    }

    @Test(arguments: [1, 4, 7])
    func listRequestedBeforeADeliveryIsNotStoredWithoutTheCreatedEntity(listCommit: Int) async throws {
        let scheduler = DeterministicScheduler(seed: 7)
        var delays = Delays()
        delays.listCommit = { .seconds(listCommit) }
        delays.settlementCommit = { .seconds(5) }
        // The list is read before the remark is created, and arrives after the response to the creation.
        delays.arrival = { $0 == .post ? .seconds(1) : .zero }
        delays.departure = { $0 == .post ? .seconds(1) : .seconds(4) }
        let stage = try Stage(scheduler, delays)
        try await scheduler.run {
            try await stage.open()
            try await stage.create(4)
            _ = try await stage.repository.entities()
            await stage.outbox.drain()
            await stage.repository.flush()
            await stage.outbox.close()
        }
        #expect(try await stage.restart().missing == [])
    }

    @Test func everyStoredListContainsAllDeliveredEntitiesUnderConcurrency() async throws {
        var listCount = 0
        for seed in 0..<(Thoroughness.isExhaustive ? 300 : 30) as Range<UInt64> {
            let scheduler = DeterministicScheduler(seed: seed)
            let random = Mutex(SplitMix64(seed: seed))
            let seconds: @Sendable () -> Duration = { random.withLock { .seconds(Int.random(in: 0...5, using: &$0)) } }
            let delays = Delays(
                listCommit: seconds,
                settlementCommit: seconds,
                arrival: { _ in seconds() },
                departure: { _ in seconds() }
            )
            let stage = try Stage(scheduler, delays)
            try await scheduler.run {
                try await stage.open()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for policy in [ReadPolicy.cacheFirst, .upstreamOnly, .cacheFirst, .upstreamOnly, .cacheFirst] {
                        group.addTask {
                            try await scheduler.timer.sleep(for: seconds() * 3)
                            _ = try await stage.repository.entities(.all, policy)
                        }
                    }
                    group.addTask {
                        for id in 4...6 {
                            try await scheduler.timer.sleep(for: seconds())
                            try await stage.create(id)
                        }
                    }
                    try await group.waitForAll()
                }
                await stage.outbox.drain()
                _ = try await stage.repository.entities()
                await stage.repository.flush()
                await stage.outbox.close()
            }
            let found = try await stage.restart()
            #expect(found.missing == [], "\(scheduler)")
            listCount += found.listCount
        }
        #expect(listCount > (Thoroughness.isExhaustive ? 1_000 : 80))
    }

    @Test func listIsStoredOnceForManyDeliveries() async throws {
        let last = Thoroughness.isExhaustive ? 503 : 153
        let scheduler = DeterministicScheduler(seed: 7)
        let store = RecordingRecordStore()
        let source = RemarkSource()
        let outbox = Outbox(
            upstream: try .example(source),
            store: store,
            timer: scheduler.timer,
            generator: SplitMix64(seed: 7),
            errorHandler: IgnoringErrorHandler()
        )
        let place = RepositoryStore(store, partition: [], now: { Date() }, reportFailure: { _ in })
        let numbers = Mutex(SplitMix64(seed: 7))
        let repository = try Repository.remarks(source, scheduler.timer, store: place, outbox: outbox) {
            numbers.withLock { .random(in: 0..<1, using: &$0) }
        }
        try await scheduler.run {
            try await outbox.open(handlers: [repository.handler])
            _ = try await repository.entities()
            for id in 4...last {
                _ = try await repository.create(RemarkDTO(Remark(id: id, author: 7, text: "text")))
            }
            await outbox.drain()
            #expect(try await repository.entities(.all, .cacheOnly).value.count == last)
            await repository.flush()
            await outbox.close()
        }
        let lists = store.commits.joined().filter(\.keepsList)
        #expect(lists.count == 2)
        let again = try Repository.remarks(source, scheduler.timer, store: place)
        #expect(try await again.entities(.all, .cacheOnly).value.count == last)
    }
}

extension RecordChange {
    /// Whether it stores a list of remarks.
    fileprivate var keepsList: Bool {
        if case .keep(_, let key) = self { RecordKey(["remarks", "lists"]).contains(key) } else { false }
    }

    /// Whether it removes a record of an outbox.
    fileprivate var removesEntry: Bool {
        if case .remove(let key) = self { key.components.first == "outbox" } else { false }
    }
}
