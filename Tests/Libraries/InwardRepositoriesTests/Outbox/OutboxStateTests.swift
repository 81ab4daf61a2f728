import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardRepositories

struct OutboxStateTests {
    private let entry = OutboxEntry(
        sequence: 1,
        write: OutboxStage.write(["7"]),
        idempotencyKey: "k",
        acceptedAt: OutboxStage.time,
        attempts: 0
    )

    @Test func onlyTheLastThousandRefusalsAreRemembered() {
        var state = OutboxState(.standard)
        #expect(state.deadLetterCount == 0 && state.deadLetterBytes == 0)
        let entries = (0...1_000).map { number in
            OutboxEntry(
                sequence: number,
                write: OutboxStage.write(["7"]),
                idempotencyKey: "k\(number)",
                acceptedAt: OutboxStage.time,
                attempts: 0
            )
        }
        let refusal = RepositoryError(.refused, request: "PUT 7", explanation: "was refused")
        for entry in entries { state.remember(refusal, of: entry) }
        #expect(entries.map { state.refusal(of: $0) == nil } == [true] + Array(repeating: false, count: 1_000))
    }

    @Test func settlementWaiterIsResumedOnce() {
        var state = OutboxState(.standard)
        let timer = TimerService(ManualClock())
        state.endWaiters["k"] = [Promise()]
        state.alarm = OutboxState.Alarm(moment: .zero, timer: timer.schedule(at: .seconds(1)) {})
        let told = [state.end(.closed), state.end(.closed)]
        #expect(told.map(\.waiters.count) == [1, 0])
        #expect(told.map { $0.alarm != nil } == [true, false])
    }

    @Test func postponedDeliveryIsForgottenBeforeItIsSentAgain() throws {
        var state = OutboxState(OutboxPolicy(concurrency: 1))
        state.partitions.append(entry, DeliveryHistory())
        let first = state.partitions.next(at: .zero)
        let delivery = try #require(first)
        state.deliveries["k"] = Task {}
        state.answered.insert("k")
        state.postpone(delivery, until: .seconds(1))
        // Closing finds the next delivery and cancels it, because the entry is not answered.
        #expect(state.deliveries.isEmpty && state.answered.isEmpty)
        let second = state.partitions.next(at: .seconds(1))
        #expect(second?.entry == entry)
        state.deliveries["k"] = Task {}
        #expect(state.end(.closed).tasks.count == 1)
    }

    /// The pause lasts a minute.
    @Test(arguments: [(nil, 60), (30, 60), (60, 60), (90, 90)] as [(Int?, Int)])
    func outboxDoesNotWakeBeforeThePauseEnds(next: Int?, wakeTime: Int) throws {
        var state = OutboxState(OutboxPolicy(refusalsBeforePause: 1))
        state.partitions.append(entry, DeliveryHistory())
        if let next {
            let delivery = state.partitions.next(at: .zero)
            state.partitions.postpone(try #require(delivery), until: .seconds(next))
        }
        _ = state.streak.refuse("x", of: ["8"], because: "no", at: .zero)
        let found = state.wakeTime(at: .seconds(1))
        #expect(found == .seconds(wakeTime))
    }

    @Test func inconclusiveProbeIsFollowedByAnother() throws {
        var state = OutboxState(OutboxPolicy(refusalsBeforePause: 1))
        state.partitions.append(entry, DeliveryHistory())
        _ = state.streak.refuse("x", of: ["8"], because: "no", at: .zero)
        let isProbing = state.streak.begin("k", at: .seconds(60))
        let delivery = state.partitions.next(at: .seconds(60))
        #expect(isProbing && state.streak.phase == .probing("k"))
        state.postpone(try #require(delivery), until: .seconds(90))
        #expect(state.streak.phase == .paused(until: .seconds(90)))
    }

    @Test func forgettingTheRecordsResetsTheStateAboutThem() {
        var state = OutboxState(OutboxPolicy(refusalsBeforePause: 1))
        state.partitions.append(entry, DeliveryHistory())
        state.addDeadLetter(7)
        state.misnamed["x"] = ["x"]
        state.unknownLosses = 1
        state.isStreakKept = true
        let pauses = state.streak.refuse("k", of: ["7"], because: "no", at: .zero).pauses
        #expect(pauses && state.unreadableCount == 2)
        state.forgetRecords(.standard)
        let counts = [state.partitions.count, state.deadLetterCount, state.deadLetterBytes, state.unreadableCount]
        #expect(counts == [0, 0, 0, 0])
        #expect(!state.isStreakKept && !state.streak.isPaused)
    }

    /// The state must not grow in a program that runs for months.
    @Test func finishedWorkLeavesNoState() async throws {
        let stage = OutboxStage()
        let upstream = stage.upstream(.lost, .turnedAway(DataResponse(status: 404)), .answerLost, latency: .seconds(1))
        let outbox = try stage.outbox(upstream)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let writes = ["7", "8", "9", "7"].map { OutboxStage.write([$0]) }
            let entries = try await outbox.accept(writes)
            // A waiter that gives up is removed.
            let late = await Deadline(in: .milliseconds(1), on: stage.timer).carried {
                () async throws(RepositoryError) in try await outbox.settlement(of: entries[3])
            }
            #expect(late.failure?.reason == .unavailable)
            #expect(await outbox.drain() == 0)
            let letter = try #require(try await outbox.contents().deadLetters.first)
            try await outbox.discard(letter.id)
            #expect(outbox.status == OutboxStatus())
            #expect(outbox.locks.waiterCount == 0)
            outbox.state.withLock { state in
                #expect(state.deliveries.isEmpty && state.answered.isEmpty && state.alarm == nil)
                #expect(state.endWaiters.isEmpty && state.idleWaiters.isEmpty)
                #expect([state.acceptsUnderWay, state.writesUnderWay, state.bytesUnderWay] == [0, 0, 0])
                #expect(
                    [state.partitions.underWay, state.partitions.count, state.partitions.partitionCount] == [0, 0, 0]
                )
            }
            await outbox.close()
        }
        #expect(try await stage.store.records(under: outbox.records.prefix).map(\.key) == [outbox.records.owner])
    }
}
