import InwardCore
import InwardFetching
import InwardTesting
import Testing

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct OutboxDrainTests {
    private let stage = OutboxStage()

    @Test func drainWaitsForAllWritesIncludingRetries() async throws {
        let stage = stage
        let refusal = DataResponse(status: 422)
        let upstream = stage.upstream(.lost, .turnedAway(refusal), .answerLost)
        let outbox = try stage.outbox(upstream)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            #expect(await outbox.drain() == 0)
            #expect(stage.elapsed == .zero)
            try await outbox.accept(["7", "8", "9"].map { OutboxStage.write([$0]) })
            #expect(outbox.counts.delivered == 0 && outbox.counts.refused == 0 && outbox.status.pendingCount == 3)
            #expect(await outbox.drain() == 0)
            #expect(outbox.pending.isEmpty)
            #expect(outbox.counts.delivered == 2 && outbox.counts.refused == 1 && outbox.status.pendingCount == 0)
            await outbox.close()
        }
    }

    @Test func drainContinuesAfterARefusal() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream(.turnedAway(DataResponse(status: 422)), .lost))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            // The writes are sent one after the other, because they have the same subject.
            try await outbox.accept([OutboxStage.write(["7"]), OutboxStage.write(["7"], "2")])
            #expect(await outbox.drain() == 0)
            #expect(outbox.counts.delivered == 1 && outbox.counts.refused == 1 && outbox.status.pendingCount == 0)
            await outbox.close()
        }
    }

    @Test func drainDoesNotWaitForHeldWrites() async throws {
        let stage = stage
        let upstream = stage.upstream()
        try await stage.scheduler.run {
            let earlier = try stage.outbox(StubDataFetcher(failing: .unreachable))
            try await earlier.open(handlers: [stage.handler, RecordingOutboxHandler("notes")])
            try await earlier.accept([
                OutboxStage.write(["7"]), OutboxStage.write(["8"]), OutboxStage.write(["8"], endpoint: "notes"),
                OutboxStage.write(["8"], "2"),
            ])
            await earlier.close()

            let outbox = try stage.outbox(upstream, keySeed: 2)
            try await outbox.open(handlers: [stage.handler])
            #expect(await outbox.drain() == 2)
            #expect(outbox.pending.map(\.sequence) == [2, 3])
            await outbox.close()
        }
        #expect(upstream.done.count == 2)
    }

    @Test func drainEndsAtTheDeadline() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream(latency: .seconds(10)))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            try await outbox.accept([OutboxStage.write(["7"]), OutboxStage.write(["7"], "2")])
            let left = await Deadline(in: .seconds(15), on: stage.timer).bound { await outbox.drain() }
            #expect(left == nil)
            #expect(stage.elapsed == .seconds(15))
            #expect(outbox.pending.count == 1)
            await outbox.close()
        }
    }
}
