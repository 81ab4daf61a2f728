import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The reports of an observer about reads and the store.
@Suite(.timeLimit(.minutes(5)))
struct RepositoryObserverTests {
    private let observer = RecordingRepositoryObserver()
    private let scheduler = DeterministicScheduler(seed: 7)

    private func repository(
        _ source: RemarkSource,
        staleWhileRevalidate: Duration = .zero,
        store: RepositoryStore? = nil
    ) throws -> Repository<Remark> {
        try .remarks(
            source,
            scheduler.timer,
            lifetimes: Lifetimes(staleAfter: .seconds(60), staleWhileRevalidate: staleWhileRevalidate),
            store: store,
            observer: observer
        )
    }

    /// Returns an upstream that takes one second for each response.
    private func slowSource() -> RemarkSource {
        RemarkSource { [scheduler] _ in try await scheduler.clock.sleep(for: .seconds(1)) }
    }

    @Test func missAndHitAreReportedWithTheirDurations() async throws {
        let repository = try repository(slowSource())
        try await scheduler.run {
            _ = try await repository.entity(1)
            _ = try await repository.entity(1)
            _ = try await repository.entities(.author(7))
        }
        #expect(
            observer.descriptions == [
                "entity of remarks began", "entity of remarks ended: upstream, after 1.0 seconds",
                "entity of remarks began", "entity of remarks ended: memory, after 0.0 seconds",
                "list of remarks began", "list of remarks ended: upstream, after 1.0 seconds",
            ]
        )
    }

    @Test func failureAndFallbackAreReported() async throws {
        let source = RemarkSource()
        let repository = try repository(source)
        try await scheduler.run { _ = try await repository.entity(1) }
        source.fail(.unreachable)
        scheduler.clock.advance(by: .seconds(60))
        try await scheduler.run {
            _ = try await repository.entity(1)
            #expect(await repository.failure(2) == .unavailable)
            #expect(await repository.failure(3, .cacheOnly) == .unavailable)
        }
        let ends = observer.descriptions.filter { !$0.hasSuffix("began") }
        #expect(
            ends.dropFirst() == [
                "entity of remarks ended: memory, stale, in place of unavailable, after 0.0 seconds",
                "entity of remarks failed: unavailable, after 0.0 seconds",
                "entity of remarks failed: unavailable, after 0.0 seconds",
            ]
        )
        let policies = observer.events.compactMap { event in
            if case .readEnded(_, let policy, _, _) = event { policy } else { nil }
        }
        #expect(policies == [.cacheFirst, .cacheFirst, .cacheFirst, .cacheOnly])
    }

    @Test func joinedRequestIsReported() async throws {
        let repository = try repository(slowSource())
        try await scheduler.run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<3 { group.addTask { _ = try await repository.entity(1) } }
                try await group.waitForAll()
            }
        }
        let joined = RecordingRepositoryObserver.Event.joined(RepositoryRead("remarks", isList: false))
        #expect(observer.events.filter { $0 == joined }.count == 2)
        let end = "entity of remarks ended: upstream, after 1.0 seconds"
        #expect(observer.descriptions.filter { $0 == end }.count == 3)
    }

    @Test func staleAnswerAndItsRefreshAreReported() async throws {
        let source = RemarkSource()
        let repository = try repository(source, staleWhileRevalidate: .seconds(30))
        try await scheduler.run { _ = try await repository.entity(1) }
        scheduler.clock.advance(by: .seconds(70))
        try await scheduler.run { _ = try await repository.entity(1) }
        try await scheduler.drain()
        #expect(
            observer.descriptions.dropFirst(2) == [
                "entity of remarks began", "entity of remarks ended: memory, stale, after 0.0 seconds",
                "entity of remarks is refreshed",
            ]
        )
    }

    @Test func revalidationIsReportedWithItsResult() async throws {
        let source = RemarkSource()
        source.send(.etag, #""v1""#)
        let repository = try repository(source)
        try await scheduler.run { _ = try await repository.entity(1) }
        scheduler.clock.advance(by: .seconds(120))
        try await scheduler.run { _ = try await repository.entity(1) }
        source.answer(status: .notModified, body: "")
        scheduler.clock.advance(by: .seconds(120))
        try await scheduler.run { _ = try await repository.entity(1) }
        source.answer(status: 503, body: "")
        scheduler.clock.advance(by: .seconds(120))
        try await scheduler.run { _ = try await repository.entity(1) }
        let reports = observer.descriptions.filter { $0.contains("revalidated") }
        // A failed request says nothing about the version.
        #expect(reports == ["remarks revalidated: modified", "remarks revalidated: not modified"])
    }

    @Test func storeOperationsAreReportedWithTheirDurations() async throws {
        let records = TimedRecordStore(
            InMemoryRecordStore(),
            timer: scheduler.timer,
            delay: { _ in .seconds(2) },
            afterCommit: { _ in }
        )
        let failing = RecordingRecordStore(records)
        let store = RepositoryStore(failing, partition: []) {
            Date(timeIntervalSinceReferenceDate: 0)
        } reportFailure: { _ in
        }
        let repository = try repository(RemarkSource(), store: store)
        try await scheduler.run {
            _ = try await repository.entity(1)
            await repository.flush()
        }
        #expect(
            observer.descriptions.filter { $0.hasPrefix("store") } == [
                "store: read began", "store: read ended after 0.0 seconds",
                "store: commit of 1 began", "store: commit of 1 ended after 2.0 seconds",
            ]
        )
        failing.fail(with: RecordStoreError(.full, explanation: "The test made it full."))
        try await scheduler.run { _ = try await repository.entity(2) }
        try await scheduler.run { await repository.close() }
        #expect(
            observer.descriptions.filter { $0.contains("failed") } == [
                "store: read failed: full, after 0.0 seconds", "store: commit of 1 failed: full, after 0.0 seconds",
            ]
        )
    }

    @Test func eachStoreOperationIsReported() async throws {
        let store = InMemoryRecordStore().observing(with: observer, timer: scheduler.timer)
        _ = try await store.record(for: ["a"])
        _ = try await store.records(under: ["a"])
        _ = try await store.losses(under: ["a"])
        try await store.commit([.remove(["a"]), .remove(["b"])])
        _ = try await store.claim(["a"])
        let ends = observer.descriptions.filter { !$0.hasSuffix("began") }
        #expect(
            ends
                == ["read", "list", "check", "commit of 2", "claim"].map { "store: \($0) ended after 0.0 seconds" }
        )
        let plain = InMemoryRecordStore().observing(with: nil)
        #expect(plain is InMemoryRecordStore)
    }

    /// Records the interaction of each step.
    private final class Interactions: RepositoryObserver {
        private let log = Mutex<[String]>([])

        var steps: [String] { log.withLock(\.self) }

        func surround<Value: Sendable, Failure: Error>(
            _ step: RepositoryStep,
            _ work: () async throws(Failure) -> Value
        ) async throws(Failure) -> Value {
            let name =
                switch step {
                case .read: "read"
                case .store(let operation): "\(operation)"
                case .delivery: "delivery"
                }
            log.withLock { $0.append("\(name): \(InteractionID.current?.description ?? "none")") }
            return try await work()
        }
    }

    @Test func readBelongsToItsInteractionAndLaterStoreWritesDoNot() async throws {
        let (interactions, source) = (Interactions(), RemarkSource())
        let store = RepositoryStore(InMemoryRecordStore(), partition: []) {
            Date(timeIntervalSinceReferenceDate: 0)
        } reportFailure: { _ in
        }
        let repository = try Repository<Remark>.remarks(source, scheduler.timer, store: store, observer: interactions)
        try await scheduler.run {
            _ = try await InteractionID.$current.withValue(InteractionID("17")) { try await repository.entity(1) }
            await repository.close()
        }
        #expect(interactions.steps == ["read: 17", "read: 17", "commit of 1: none"])
    }
}
