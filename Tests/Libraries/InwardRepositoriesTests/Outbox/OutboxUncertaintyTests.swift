import InwardCore
import InwardFetching
import InwardTesting
import Testing

@testable import InwardRepositories

/// Tests that a refusal ends a write only if no earlier attempt can have arrived, in this process or an earlier one.
@Suite(.timeLimit(.minutes(5)))
struct OutboxUncertaintyTests {
    private let stage = OutboxStage()

    private func refusal(_ status: DataResponse.Status) -> IdempotentDataFetcher.Fate {
        .turnedAway(DataResponse(status: status))
    }

    /// The upstream takes 8 s for the write, and answers repeats with 409 in the meantime. An attempt is limited to 5 s. The
    /// pipeline would retry.
    @Test func upstreamSlowerThanTheAttemptTimeoutDoesTheWriteOnce() async throws {
        let stage = stage
        let upstream = IdempotentDataFetcher(timer: stage.timer, workTime: { _ in .seconds(8) })
        let log = SendingLog(upstream, timer: stage.timer)
        let pipeline = log.timingOut(after: .seconds(5), timer: stage.timer)
            .retrying(RetryPolicy(jitter: Jitter { 1 }), timer: stage.timer)
        let outbox = try stage.outbox(pipeline)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            try await stage.timer.sleep(for: .milliseconds(6_500))
            #expect(outbox.status.outcomeUnknownCount == 1)
            #expect(try await outbox.contents().pending.map(\.state) == [.outcomeUnknown])
            try await outbox.settlement(of: entry)
            await outbox.close()
        }
        #expect(upstream.done.count == 1)
        // Only the outbox sends the write again, after its own waits. The third attempt arrives just before the upstream is
        // done.
        #expect(log.moments == [.zero, .seconds(6), .seconds(8), .seconds(12)])
        #expect(outbox.counts == OutboxCounts(accepted: 1, attempts: 4, postponed: 3, delivered: 1))
        #expect(outbox.status.deadLetterCount == 0)
        #expect(stage.errors.errors.isEmpty)
    }

    /// There is one note before the first attempt, and one after each of the two attempts without a response. The outbox writes
    /// no further note before the last attempt.
    @Test func entryNotedAsPossiblyArrivedIsNotNotedAgain() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream(.answerLost, .answerLost))
        try await stage.scheduler.run { try await stage.settle(by: outbox) }
        let notes = stage.store.commits.joined().count { change in
            if case .keep(_, let key) = change { key.components.contains("attempts") } else { false }
        }
        #expect(notes == 3)
    }

    /// The note after the first attempt cannot be stored, so it is written before the next attempt.
    @Test func missingNoteIsWrittenBeforeTheNextAttempt() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream(.answerLost, latency: .milliseconds(100)))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            try await stage.timer.sleep(for: .milliseconds(50))
            stage.store.fail(with: RecordStoreError(.full, explanation: "The disk is full."))
            try await stage.timer.sleep(for: .milliseconds(200))
            stage.store.fail(with: nil)
            try await outbox.settlement(of: entry)
            await outbox.close()
        }
        let notes = stage.store.commits.joined().compactMap { change -> AttemptNote? in
            guard case .keep(let record, let key) = change, key.components.contains("attempts") else { return nil }
            return AttemptNote(record.bytes)
        }
        #expect(notes.map(\.attempts) == [0, 1])
        #expect(notes.map(\.mayHaveArrived) == [false, true])
    }

    @Test func noteOfAnEarlierProcessIsNotWrittenAgain() async throws {
        let stage = stage
        try await stage.scheduler.run {
            let first = try stage.outbox(stage.upstream(.answerLost))
            try await first.open(handlers: [stage.handler])
            let entry = try await first.accept([OutboxStage.write(["7"])])[0]
            try await stage.timer.sleep(for: .milliseconds(500))
            await first.close()
            let count = stage.store.commits.count
            let second = try stage.outbox(stage.upstream(), keySeed: 2)
            try await second.open(handlers: [stage.handler])
            try await second.settlement(of: entry)
            await second.close()
            let notes = stage.store.commits.dropFirst(count).joined().count { change in
                if case .keep(_, let key) = change { key.components.contains("attempts") } else { false }
            }
            #expect(notes == 0)
        }
    }

    @Test(arguments: [400, 404, 409, 422] as [DataResponse.Status])
    func refusalAfterALostResponseIsNotFinalAndReportedOnce(status: DataResponse.Status) async throws {
        let stage = stage
        let fates = [.answerLost] + [IdempotentDataFetcher.Fate](repeating: refusal(status), count: 6)
        let script = FateScript(fates)
        let upstream = IdempotentDataFetcher(timer: stage.timer, fate: { _ in script.next() })
        let outbox = try stage.outbox(upstream)
        try await stage.scheduler.run { try await stage.settle(by: outbox) }
        #expect(outbox.counts.refused == 0)
        #expect(outbox.counts.delivered == 1)
        let told = stage.errors.errors.compactMap { $0 as? DelayedWriteError }
        #expect(told.map { ($0.cause as? RepositoryError)?.reason } == [.outcomeUnknown])
        #expect(stage.errors.errors.count == 1)
    }

    @Test(arguments: [500, 502, 503, 504] as [DataResponse.Status])
    func writeMayHaveBeenDoneDespiteAServerError(status: DataResponse.Status) async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream(refusal(status), refusal(422), refusal(422)))
        try await stage.scheduler.run { try await stage.settle(by: outbox) }
        #expect(outbox.counts.delivered == 1)
    }

    /// A write that was never sent cannot have arrived, so its first refusal is final.
    @Test func refusalOfAWriteThatWasNeverSentIsFinalAfterARestart() async throws {
        let stage = stage
        try await stage.scheduler.run {
            let first = try stage.outbox(StubDataFetcher(failing: .unreachable))
            try await first.open(handlers: [stage.handler])
            let entries = try await first.accept([OutboxStage.write(["7"]), OutboxStage.write(["7"], "2")])
            try await stage.timer.sleep(for: .milliseconds(500))
            await first.close()
            let second = try stage.outbox(stage.upstream(refusal(422), refusal(422)), keySeed: 2)
            try await second.open(handlers: [stage.handler])
            for entry in entries {
                await #expect(throws: RepositoryError.self) { try await second.settlement(of: entry) }
            }
            await second.close()
            #expect(second.counts.refused == 2)
        }
    }

    /// A note precedes each attempt, so an attempt that a kill interrupted may have arrived.
    @Test func refusalAfterAKillDuringAnAttemptIsNotFinal() async throws {
        let stage = stage
        let upstream = stage.upstream(.done, refusal(409), refusal(422), latency: .seconds(10))
        try await stage.scheduler.run {
            let process = MortalProcess()
            let first = try stage.outbox(
                MortalDataFetcher(base: upstream, process: process),
                store: MortalRecordStore(base: stage.store, process: process)
            )
            try await first.open(handlers: [stage.handler])
            let entry = try await first.accept([OutboxStage.write(["7"])])[0]
            try await stage.timer.sleep(for: .seconds(7))
            // The write is done, and the process ends before it receives the response.
            #expect(upstream.done.count == 1)
            process.end()
            await first.close()
            let contents = try await OutboxContents(of: stage.store)
            #expect(contents.pending.map(\.state) == [.sending])
            let second = try stage.outbox(upstream, keySeed: 2)
            try await second.open(handlers: [stage.handler])
            #expect(second.status.outcomeUnknownCount == 1)
            try await second.settlement(of: entry)
            await second.close()
            #expect(second.counts.refused == 0)
            #expect(second.counts.delivered == 1)
        }
        #expect(upstream.done.count == 1)
    }

    @Test func attemptThatNeverReachedTheUpstreamIsNotCounted() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream(.lost, .lost))
        try await stage.scheduler.run { try await stage.settle(by: outbox) }
        #expect(outbox.counts.attempts == 1)
        #expect(outbox.counts.postponed == 2)
    }
}
