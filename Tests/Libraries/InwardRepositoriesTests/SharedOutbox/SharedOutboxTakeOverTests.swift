import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct SharedOutboxTakeOverTests {
    private let stage = SharedOutboxStage()
    private let partition = SharedOutboxStage.partition

    /// Returns the store of a process that is suspended for a minute, before or after its first operation of a kind takes effect.
    private func suspending(
        _ moment: GatedSharedStore.Moment,
        _ isMeant: @escaping @Sendable (GatedSharedStore.Operation) -> Bool
    ) -> GatedSharedStore {
        let end = SuspensionEnd()
        return GatedSharedStore(stage.store) { [timer = stage.timer] operation, now throws(RecordStoreError) in
            if now == moment, isMeant(operation) { end.set(timer.now + .seconds(60)) }
            if let moment = end.moment { try? await timer.sleep(until: moment) }
        }
    }

    private final class SuspensionEnd: Sendable {
        private let state = Mutex<Duration?>(nil)

        var moment: Duration? { state.withLock(\.self) }

        func set(_ moment: Duration) { state.withLock { $0 = $0 ?? moment } }
    }

    /// Lets an instance with a store accept and begin to deliver a write. Another instance starts a second later.
    private func takeOver(
        from store: GatedSharedStore,
        _ upstream: IdempotentDataFetcher
    ) async throws -> (suspended: SharedOutbox, other: SharedOutbox) {
        let suspended = try stage.outbox(upstream, store: store)
        let other = try stage.outbox(upstream, keySeed: 2)
        try await stage.delivering(by: [suspended]) { [stage, partition] in
            try await suspended.accept([SharedOutboxStage.write(["7"], "1")], in: partition)
            try await suspended.accept([SharedOutboxStage.write(["7"], "2")], in: partition)
            try await stage.timer.sleep(for: .seconds(1))
            await withTaskGroup { group in
                group.addTask { await other.run() }
                // Long enough for the other instance to take over, and for the suspended one to go on after that.
                try? await stage.timer.sleep(for: .seconds(120))
                group.cancelAll()
            }
        }
        #expect(try await stage.store.records(under: ["outbox"]).isEmpty)
        #expect(upstream.done.map(\.text) == ["1", "2"])
        return (suspended, other)
    }

    @Test func instanceThatWasSuspendedBeforeItsNoteSendsNothing() async throws {
        let upstream = stage.upstream()
        let (suspended, other) = try await takeOver(from: suspending(.before, \.isNote), upstream)
        #expect(upstream.requests.count == 2)
        #expect(suspended.counts.attempts == 0)
        #expect(other.counts == OutboxCounts(attempts: 2, delivered: 2))
    }

    @Test func instanceThatWasSuspendedBetweenItsNoteAndTheLocalCheckSendsNothing() async throws {
        let upstream = stage.upstream()
        let (suspended, other) = try await takeOver(from: suspending(.after, \.isNote), upstream)
        #expect(upstream.requests.count == 2)
        #expect(suspended.counts.attempts == 0)
        #expect(other.counts == OutboxCounts(attempts: 2, delivered: 2))
    }

    @Test func instanceThatWasSuspendedAfterItsAttemptSettlesNothing() async throws {
        let upstream = stage.upstream()
        let (suspended, other) = try await takeOver(from: suspending(.before, \.isSettlement), upstream)
        // Both sent the first write, with the same key.
        #expect(upstream.requests.map(\.text) == ["1", "1", "2"])
        #expect(
            upstream.requests[0].headerFields[.idempotencyKey] == upstream.requests[1].headerFields[.idempotencyKey]
        )
        #expect(suspended.counts == OutboxCounts(accepted: 2, attempts: 1))
        #expect(other.counts == OutboxCounts(attempts: 2, delivered: 2))
        #expect(stage.handler.events.count { if case .committed = $0 { true } else { false } } == 2)
    }

    @Test func settlementWhoseAnswerIsLostIsNotRepeated() async throws {
        let upstream = stage.upstream()
        let count = Counter()
        let store = GatedSharedStore(stage.store) { operation, moment throws(RecordStoreError) in
            guard moment == .after, operation.isSettlement, count.add() == 1 else { return }
            throw RecordStoreError(.outcomeUnknown, explanation: "No answer.")
        }
        let outbox = try stage.outbox(upstream, store: store)
        try await stage.delivering(by: [outbox]) { [stage, partition] in
            try await outbox.accept(
                [SharedOutboxStage.write(["7"], "1"), SharedOutboxStage.write(["7"], "2")],
                in: partition
            )
            try await stage.untilDelivered(outbox)
        }
        #expect(upstream.requests.map(\.text) == ["1", "2"])
        #expect(outbox.counts == OutboxCounts(accepted: 2, attempts: 2, delivered: 2))
    }

    @Test func writesOfAnInstanceThatDiesAreTakenOverWhenItsLeaseRunsOut() async throws {
        // The refusal is not final, because the dead instance may have sent the write.
        let upstream = stage.upstream(.turnedAway(DataResponse(status: 422)))
        let death = Counter()
        let store = GatedSharedStore(stage.store) { operation, moment throws(RecordStoreError) in
            if operation.isNote, moment == .after { death.add() }
            if death.value > 0 { throw RecordStoreError(.unavailable, explanation: "The process is dead.") }
        }
        let (dead, other) = (try stage.outbox(upstream, store: store), try stage.outbox(upstream, keySeed: 2))
        try await stage.delivering(by: [dead, other]) { [stage, partition] in
            _ = try await dead.accept([SharedOutboxStage.write(["7"])], in: partition)
            try await stage.until { death.value > 0 }
            #expect(try await other.pending(in: partition).map(\.state) == [.sending])
            try await stage.until { !upstream.requests.isEmpty }
            #expect(stage.elapsed >= .seconds(30) && stage.elapsed <= .seconds(32))
            try await stage.untilDelivered(other)
            #expect(try await other.deadLetters(in: partition).isEmpty)
        }
        #expect(upstream.requests.count == 2 && upstream.done.count == 1)
        #expect(other.counts.delivered == 1)
    }

    @Test func instanceThatStopsGivesItsSubjectsBackAtOnce() async throws {
        let slow = IdempotentDataFetcher(timer: stage.timer, latency: { _ in .seconds(10) })
        let upstream = stage.upstream()
        let (stopping, other) = (try stage.outbox(slow), try stage.outbox(upstream, keySeed: 2))
        try await stage.delivering(by: [stopping]) { [stage, partition] in
            try await stopping.accept([SharedOutboxStage.write(["7"])], in: partition)
            try await stage.until { slow.requests.count == 1 }
        }
        #expect(stage.elapsed < .seconds(1))
        try await stage.delivering(by: [other]) { [stage] in try await stage.untilDelivered(other) }
        #expect(stage.elapsed < .seconds(2))
        #expect(slow.done.isEmpty && upstream.done.count == 1)
        #expect(
            slow.requests.first?.headerFields[.idempotencyKey] == upstream.requests.first?.headerFields[.idempotencyKey]
        )
        #expect(stage.timer.count == 0)
    }
}
