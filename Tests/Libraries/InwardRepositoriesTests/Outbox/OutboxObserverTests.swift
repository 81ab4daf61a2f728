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

/// Tests which events an observer receives about an outbox.
@Suite(.timeLimit(.minutes(5)))
struct OutboxObserverTests {
    private let stage = OutboxStage()
    private let observer = RecordingRepositoryObserver()

    /// The observed events of the outbox, without those of the store and without repetitions.
    private var told: [String] {
        observer.descriptions.filter { !$0.hasPrefix("store") }
            .reduce(into: []) { told, event in if told.last != event { told.append(event) } }
    }

    @Test func deliveryIsObservedWithItsAttemptsAndTheAgeOfTheWrite() async throws {
        let (stage, observer) = (stage, observer)
        let outbox = try stage.outbox(
            stage.upstream(.lost, latency: .seconds(1)),
            policy: OutboxPolicy(initialWait: .seconds(8), jitter: Jitter { 1 }),
            observer: observer
        )
        try await stage.scheduler.run { try await stage.settle(by: outbox) }
        #expect(
            told == [
                "outbox: 0 pending, 0 dead letters", "accepted 7",
                "outbox: 1 pending, the oldest 0.0 seconds old, 0 dead letters",
                "delivery of 7 began", "delivery of 7 ended: postponed, unavailable, after 0.5 seconds",
                "outbox: 1 pending, the oldest 0.5 seconds old, 0 dead letters",
                "outbox: 1 pending, the oldest 8.5 seconds old, 0 dead letters",
                "delivery of 7 began", "delivery of 7 ended: delivered, after 1.0 seconds",
                "outbox: 0 pending, 0 dead letters", "outbox: closed",
            ]
        )
        let attempts = observer.events.compactMap { event in
            if case .deliveryEnded(let entry, _, _) = event { entry.attempts } else { nil }
        }
        #expect(attempts == [1, 1])
    }

    @Test func refusedWriteIsObservedAsADeadLetterUntilItIsDiscarded() async throws {
        let (stage, observer) = (stage, observer)
        let outbox = try stage.outbox(stage.upstream(.turnedAway(DataResponse(status: 422))), observer: observer)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            await #expect(throws: RepositoryError.self) { try await outbox.settlement(of: entry) }
            #expect(try await outbox.discard(entry.idempotencyKey))
            await outbox.close()
        }
        #expect(
            told.suffix(5) == [
                "delivery of 7 began", "delivery of 7 ended: refused, refused, after 0.0 seconds",
                "outbox: 0 pending, 1 dead letters", "outbox: 0 pending, 0 dead letters", "outbox: closed",
            ]
        )
    }

    @Test func failingStoreIsObservedAsAnUnsettledDelivery() async throws {
        let (stage, observer) = (stage, observer)
        let outbox = try stage.outbox(stage.upstream(latency: .seconds(1)), observer: observer)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            try await stage.timer.sleep(for: .seconds(0.5))
            stage.store.fail(with: RecordStoreError(.full, explanation: "The test made it full."))
            try await stage.timer.sleep(for: .seconds(1))
            stage.store.fail(with: nil)
            try await outbox.settlement(of: entry)
            await outbox.close()
        }
        let ends = told.filter { $0.contains("ended") }
        #expect(
            ends == [
                "delivery of 7 ended: unsettled, full, after 1.0 seconds",
                "delivery of 7 ended: delivered, after 0.0 seconds",
            ]
        )
    }

    @Test func takeoverIsObserved() async throws {
        let (stage, observer) = (stage, observer)
        let outbox = try stage.outbox(stage.upstream(), observer: observer)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let owner = OutboxRecords(prefix: ["outbox"]).owner
            try await stage.store.commit([.keep(StoredRecord(Array("another".utf8)), owner)])
            await #expect(throws: RecordStoreError.self) { try await outbox.accept([OutboxStage.write(["7"])]) }
        }
        #expect(told == ["outbox: 0 pending, 0 dead letters", "outbox: closed"])
    }

    /// Records the interactions that deliveries belong to.
    private final class Interactions: RepositoryObserver {
        let current = Mutex<[InteractionID?]>([])

        func deliveryEnded(_ entry: OutboxEntry, _ end: OutboxDeliveryEnd, after duration: Duration) {
            current.withLock { $0.append(InteractionID.current) }
        }
    }

    @Test func deliveryBelongsToNoInteraction() async throws {
        let (stage, interactions) = (stage, Interactions())
        let outbox = try stage.outbox(stage.upstream(), observer: interactions)
        try await stage.scheduler.run {
            try await InteractionID.$current.withValue(InteractionID("17")) { try await stage.settle(by: outbox) }
        }
        #expect(interactions.current.withLock(\.self) == [nil])
    }
}
