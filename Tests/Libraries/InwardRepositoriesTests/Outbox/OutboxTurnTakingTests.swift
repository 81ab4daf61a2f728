import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardRepositories

/// Tests that only one task at a time changes the records of a subject.
@Suite(.timeLimit(.minutes(5)))
struct OutboxTurnTakingTests {
    private let stage = OutboxStage()

    @Test func writeIsNotAcceptedWhileAnotherOfItsSubjectIsSettled() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream())
        try await stage.scheduler.run {
            try await outbox.open(handlers: [SlowOutboxHandler(base: stage.handler, timer: stage.timer)])
            let first = try await outbox.accept([OutboxStage.write(["7"])])[0]
            try await stage.timer.sleep(for: .seconds(1))
            // The upstream has answered, and the slow handler is settling the write.
            try await outbox.accept([OutboxStage.write(["8"])])
            #expect(stage.elapsed == .seconds(1))
            let second = try await outbox.accept([OutboxStage.write(["7"], "2")])[0]
            #expect(stage.elapsed == .seconds(10))
            let events = stage.handler.events
            #expect(events.firstIndex(of: .committed(first)) != nil)
            #expect((events.firstIndex(of: .committed(first)) ?? 99) < (events.firstIndex(of: .accepted(second)) ?? 0))
            await outbox.close()
        }
    }

    @Test func writeIsNotSettledWhileAnotherOfItsSubjectIsAccepted() async throws {
        let stage = stage
        let slow = SlowRecordStore(stage.store, timer: stage.timer)
        let outbox = try stage.outbox(stage.upstream(latency: .seconds(3)), store: slow)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let first = try await outbox.accept([OutboxStage.write(["7"])])[0]
            // The first write is sent two seconds from now, and answered three seconds after that.
            try await stage.timer.sleep(for: .seconds(4))
            let second = try await outbox.accept([OutboxStage.write(["7"], "2")])[0]
            try await outbox.settlement(of: first)
            // The handler had to settle the first write after the second was accepted, so it received a later entry.
            #expect(
                stage.handler.events.prefix(3) == [.accepted(first), .accepted(second), .delivered(first, later: 1)]
            )
            await outbox.close()
        }
    }

    @Test func writeThatStopsWaitingForItsTurnChangesAndBlocksNothing() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream())
        try await stage.scheduler.run {
            try await outbox.open(handlers: [SlowOutboxHandler(base: stage.handler, timer: stage.timer)])
            try await outbox.accept([OutboxStage.write(["7"])])
            try await stage.timer.sleep(for: .seconds(1))
            let late = await Deadline(in: .seconds(2), on: stage.timer).carried(by: {
                () async throws(RecordStoreError) in
                try await outbox.accept([OutboxStage.write(["7"], "2"), OutboxStage.write(["8"], "2")])
            })
            #expect(late.failure?.reason == .cancelled)
            #expect(late.failure?.explanation.contains("the deadline passed") == true)
            #expect(stage.elapsed == .seconds(3))
            #expect(outbox.locks.waiterCount == 0)
            // A later request for the same subject is granted.
            try await outbox.accept([OutboxStage.write(["8"])])
            #expect(stage.elapsed == .seconds(3))
            try await outbox.accept([OutboxStage.write(["7"], "3")])
            #expect(stage.elapsed == .seconds(10))
            await outbox.close()
            #expect(
                stage.handler.events.compactMap { if case .accepted(let entry) = $0 { entry.write } else { nil } } == [
                    OutboxStage.write(["7"]), OutboxStage.write(["8"]), OutboxStage.write(["7"], "3"),
                ]
            )
        }
    }

    @Test func anotherSubjectIsSentWhileAnAnswerIsBeingSettled() async throws {
        let stage = stage
        let upstream = stage.upstream()
        let outbox = try stage.outbox(upstream, policy: OutboxPolicy(concurrency: 1, jitter: Jitter { 1 }))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [SlowOutboxHandler(base: stage.handler, timer: stage.timer)])
            try await outbox.accept([
                OutboxStage.write(["7"], "1"), OutboxStage.write(["7"], "2"), OutboxStage.write(["8"], "3"),
            ])
            try await stage.timer.sleep(for: .seconds(1))
            // Both are answered, and the slow handler is settling them. The other write of the first subject waits.
            #expect(upstream.requests.map(\.text) == ["1", "3"])
            #expect(await outbox.drain() == 0)
            await outbox.close()
        }
        #expect(upstream.requests.map(\.text) == ["1", "3", "2"])
    }

    @Test func deliveryIgnoresTheDeadlineOfTheCaller() async throws {
        let stage = stage
        let times = Mutex<[Duration?]>([])
        let upstream = StubDataFetcher { _ in
            times.withLock { $0.append(Deadline.current?.remaining) }
            return DataResponse()
        }
        let outbox = try stage.outbox(upstream, policy: OutboxPolicy(attemptLimit: .seconds(40)))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let deadline = Deadline(in: .seconds(1), on: stage.timer)
            let entries = await deadline.carried(by: { () async throws(RecordStoreError) in
                try await outbox.accept([OutboxStage.write(["7"])])
            })
            try await outbox.settlement(of: entries.get()[0])
            await outbox.close()
        }
        #expect(times.withLock(\.self) == [.seconds(40)])
    }
}
