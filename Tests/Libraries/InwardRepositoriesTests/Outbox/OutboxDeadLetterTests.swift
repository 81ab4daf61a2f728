import InwardCore
import InwardFetching
import InwardTesting
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Tests of dead letters, which are kept until they are retried or discarded.
@Suite(.timeLimit(.minutes(5)))
struct OutboxDeadLetterTests {
    private let stage = OutboxStage()
    private let refusal = IdempotentDataFetcher.Fate.turnedAway(DataResponse(status: 404))

    /// Accepts a write, and waits until it is refused.
    private func refused(_ write: OutboxWrite, in outbox: Outbox) async throws -> OutboxEntry {
        let entry = try await outbox.accept([write])[0]
        await #expect(throws: RepositoryError.self) { try await outbox.settlement(of: entry) }
        return entry
    }

    @Test func refusedWriteBecomesADeadLetterInTheCommitThatEndsIt() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream(.lost, refusal))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entry = try await refused(OutboxStage.write(["7"], "what was written"), in: outbox)
            await outbox.close()
            let end = try #require(stage.store.commits.last)
            let name = OutboxEntryName(entry)
            #expect(end.contains(.remove(name.key(under: outbox.records.entries))))
            let dead = name.key(under: outbox.records.dead)
            let kept = end.lazy.compactMap { if case .keep(let record, dead) = $0 { record } else { nil } }.first
            // The JSON members are sorted, so equal dead letters have equal bytes.
            #expect(String(decoding: try #require(kept).bytes, as: UTF8.self).hasPrefix(#"{"attempts":2,"cause":"#))
            // Reading it does not require the outbox, which another process may own.
            let contents = try await OutboxContents(of: stage.store)
            #expect(contents.pending == [])
            let letter = try #require(contents.deadLetters.first)
            #expect(contents.deadLetters.count == 1)
            #expect(letter.id == entry.idempotencyKey)
            #expect(letter.endpoint == "posts")
            #expect(letter.write == entry.write)
            #expect(letter.acceptedAt == OutboxStage.time)
            #expect(letter.state == .refused(at: OutboxStage.time.addingTimeInterval(1)))
            #expect(letter.attempts == 2)
            #expect(letter.cause == "POST http://upstream.test/api/7 was answered with \(DataResponse.Status(404))")
            #expect(contents.status == outbox.status)
            #expect(outbox.status.deadLetterCount == 1)
            #expect(outbox.status.deadLetterBytes == entry.write.byteCount)
        }
    }

    @Test func refusedWriteCanBeRetriedByALaterProcess() async throws {
        let stage = stage
        let upstream = stage.upstream(refusal)
        try await stage.scheduler.run {
            let first = try stage.outbox(upstream)
            try await first.open(handlers: [stage.handler])
            let entry = try await refused(OutboxStage.write(["7"]), in: first)
            await first.close()
            let second = try stage.outbox(upstream, keySeed: 2)
            try await second.open(handlers: [stage.handler])
            #expect(second.status.deadLetterCount == 1)
            let again = try #require(try await second.retry(entry.idempotencyKey))
            #expect(again.write == entry.write)
            #expect(again.acceptedAt == entry.acceptedAt)
            // The upstream may have stored its refusal under the old key.
            #expect(again.idempotencyKey != entry.idempotencyKey)
            try await second.settlement(of: again)
            #expect(second.status == OutboxStatus())
            #expect(try await second.retry(entry.idempotencyKey) == nil)
            await second.close()
            #expect(try await stage.store.records(under: second.records.dead).isEmpty)
        }
        #expect(upstream.done.count == 1)
    }

    @Test func refusalByAnotherProcessIsReportedAsARefusal() async throws {
        let stage = stage
        try await stage.scheduler.run {
            let first = try stage.outbox(StubDataFetcher(failing: .unreachable))
            try await first.open(handlers: [stage.handler])
            let entry = try await first.accept([OutboxStage.write(["7"])])[0]
            await first.close()
            let second = try stage.outbox(stage.upstream(refusal), keySeed: 2)
            try await second.open(handlers: [stage.handler])
            #expect(await second.drain() == 0)
            await second.close()
            let third = try stage.outbox(stage.upstream(), keySeed: 3)
            try await third.open(handlers: [stage.handler])
            let error = await #expect(throws: RepositoryError.self) { try await third.settlement(of: entry) }
            #expect(error?.reason == .refused)
            #expect(error?.description.contains("404") == true)
            await third.close()
        }
    }

    @Test func allDeadLettersAreRetriedInOrder() async throws {
        let stage = stage
        let upstream = stage.upstream(refusal, refusal, refusal)
        let outbox = try stage.outbox(upstream)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            for text in ["1", "2", "3"] { _ = try await refused(OutboxStage.write(["7"], text), in: outbox) }
            #expect(try await outbox.retryDeadLetters() == 3)
            #expect(await outbox.drain() == 0)
            await outbox.close()
        }
        #expect(upstream.done.map(\.text) == ["1", "2", "3"])
        #expect(outbox.status == OutboxStatus())
    }

    @Test func retriedDeadLetterIsTheOldestWriteAlthoughItIsSentLast() async throws {
        let stage = stage
        let upstream = stage.upstream(refusal, latency: .seconds(1))
        let outbox = try stage.outbox(upstream)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let first = try await refused(OutboxStage.write(["7"], "1"), in: outbox)
            let second = try await outbox.accept([OutboxStage.write(["7"], "2")])[0]
            #expect(first.acceptedAt < second.acceptedAt)
            #expect(outbox.status.oldestAcceptedAt == second.acceptedAt)
            _ = try await outbox.retry(first.idempotencyKey)
            #expect(outbox.pending.map(\.acceptedAt) == [second.acceptedAt, first.acceptedAt])
            #expect(outbox.status.oldestAcceptedAt == first.acceptedAt)
            #expect(try await outbox.contents().oldestAcceptedAt == first.acceptedAt)
            #expect(await outbox.drain() == 0)
            await outbox.close()
        }
    }

    @Test func discardedDeadLetterIsGone() async throws {
        let stage = stage
        let upstream = stage.upstream(refusal)
        let outbox = try stage.outbox(upstream)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entry = try await refused(OutboxStage.write(["7"]), in: outbox)
            #expect(try await outbox.discard(entry.idempotencyKey))
            #expect(try await !outbox.discard(entry.idempotencyKey))
            #expect(try await outbox.contents() == OutboxContents(of: InMemoryRecordStore()))
            #expect(outbox.status == OutboxStatus())
            await outbox.close()
        }
        #expect(upstream.requests.count == 1)
    }

    @Test func misnamedDeadLetterIsDiscardedByItsKey() async throws {
        let stage = stage
        let keys: [RecordKey] = [["outbox", "dead", "x"], ["outbox", "dead", "y"]]
        try await stage.store.commit(keys.map { .keep(StoredRecord([1, 2, 3]), $0) })
        let outbox = try stage.outbox(stage.upstream())
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            #expect(outbox.status.deadLetterCount == 2 && outbox.status.deadLetterBytes == 6)
            #expect(try await outbox.discard(keys[1].description))
            #expect(try await stage.store.records(under: outbox.records.dead).map(\.key) == [keys[0]])
            #expect(outbox.status.deadLetterCount == 1 && outbox.status.deadLetterBytes == 3)
            await outbox.close()
        }
    }

    @Test func discardedPendingWriteIsUndoneAndLaterWritesAreDelivered() async throws {
        let stage = stage
        let upstream = stage.upstream(.lost)
        let outbox = try stage.outbox(upstream)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let writes = ["1", "2", "3"].map { OutboxStage.write(["7"], $0) }
            let entries = try await outbox.accept(writes)
            try await stage.timer.sleep(for: .milliseconds(500))
            #expect(try await outbox.discard(entries[1].idempotencyKey))
            #expect(try await outbox.discard(entries[0].idempotencyKey))
            let error = await #expect(throws: RepositoryError.self) { try await outbox.settlement(of: entries[0]) }
            #expect(error?.reason == .refused)
            #expect(stage.handler.pending.map(\.idempotencyKey) == [entries[2].idempotencyKey])
            try await outbox.settlement(of: entries[2])
            #expect(stage.elapsed == .milliseconds(500))
            await outbox.close()
            #expect(try await stage.store.records(under: outbox.records.attempts).isEmpty)
        }
        #expect(upstream.done.map(\.text) == ["3"])
        #expect(outbox.status == OutboxStatus())
    }

    @Test(arguments: [nil, RecordStoreError(.full, explanation: "The disk is full.")])
    func writeBeingDiscardedIsSentOnlyIfDiscardingFails(failure: RecordStoreError?) async throws {
        let stage = stage
        let upstream = stage.upstream(.lost)
        let outbox = try stage.outbox(
            upstream,
            store: SlowRecordStore(stage.store, timer: stage.timer),
            policy: OutboxPolicy(initialWait: .milliseconds(1_500), jitter: Jitter { 1 })
        )
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let id = try await outbox.accept([OutboxStage.write(["7"])])[0].idempotencyKey
            // The next attempt becomes due during the slow commit.
            while outbox.counts.postponed == 0 { try await stage.timer.sleep(for: .milliseconds(100)) }
            stage.store.fail(with: failure)
            let discarded = await Result(awaiting: { () async throws(RecordStoreError) in
                try await outbox.discard(id)
            })
            #expect(discarded == failure.map { .failure($0) } ?? .success(true))
            stage.store.fail(with: nil)
            try await stage.timer.sleep(for: .seconds(60))
            #expect(outbox.status.pendingCount == 0)
            await outbox.close()
        }
        #expect(upstream.done.count == (failure == nil ? 0 : 1))
    }

    @Test func onlyOneOfTwoConcurrentDiscardsSucceeds() async throws {
        let stage = stage
        let outbox = try stage.outbox(
            StubDataFetcher(failing: .unreachable),
            store: SlowRecordStore(stage.store, timer: stage.timer),
            policy: OutboxPolicy(initialWait: .seconds(100), jitter: Jitter { 1 })
        )
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let id = try await outbox.accept([OutboxStage.write(["7"])])[0].idempotencyKey
            try await stage.timer.sleep(for: .seconds(50))
            async let first = outbox.discard(id)
            async let second = outbox.discard(id)
            let wereThere = try await [first, second]
            #expect(wereThere.count { $0 } == 1)
            await outbox.close()
        }
    }

    @Test func discardingFailsDuringAnAttemptAndLeavesTheOutcomeUnknownAfterIt() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream(.answerLost, latency: .seconds(1)))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            try await stage.timer.sleep(for: .milliseconds(500))
            let denied = await #expect(throws: RecordStoreError.self) { try await outbox.discard(entry.idempotencyKey) }
            #expect(denied?.reason == .denied)
            #expect(try await outbox.contents().pending.map(\.state) == [.sending])
            try await stage.timer.sleep(for: .seconds(1))
            #expect(try await outbox.discard(entry.idempotencyKey))
            let error = await #expect(throws: RepositoryError.self) { try await outbox.settlement(of: entry) }
            #expect(error?.reason == .outcomeUnknown)
            await outbox.close()
        }
    }

    @Test func retryingSendsAWaitingWriteImmediately() async throws {
        let stage = stage
        let policy = OutboxPolicy(initialWait: .seconds(100), jitter: Jitter { 1 })
        let upstream = stage.upstream(.lost, .lost, .lost)
        let outbox = try stage.outbox(upstream, policy: policy)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entries = try await outbox.accept([OutboxStage.write(["7"]), OutboxStage.write(["8"])])
            try await stage.timer.sleep(for: .seconds(1))
            let waiting = try await outbox.contents().pending
            #expect(waiting.map(\.state) == [.waiting, .waiting])
            #expect(waiting.map(\.nextAttempt) == [100, 100].map { OutboxStage.time.addingTimeInterval($0) })
            #expect(waiting.allSatisfy { $0.cause?.contains("was lost on the way") == true })
            #expect(try await outbox.retry(entries[0].idempotencyKey)?.idempotencyKey == entries[0].idempotencyKey)
            try await stage.timer.sleep(for: .seconds(1))
            #expect(upstream.requests.count == 3)
            outbox.retryNow()
            for entry in entries { try await outbox.settlement(of: entry) }
            #expect(stage.elapsed == .seconds(2))
            await outbox.close()
        }
        #expect(stage.timer.count == 0)
    }

    @Test func newCredentialsRetryOnlyDeniedWrites() async throws {
        let stage = stage
        let upstream = IdempotentDataFetcher(
            timer: stage.timer,
            fate: { request in
                guard request.attempt == 1, stage.elapsed < .milliseconds(500) else { return .done }
                return request.text == "denied" ? .turnedAway(DataResponse(status: 401)) : .lost
            }
        )
        let outbox = try stage.outbox(upstream)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            try await outbox.accept([OutboxStage.write(["7"], "denied"), OutboxStage.write(["8"], "lost")])
            try await stage.timer.sleep(for: .milliseconds(600))
            outbox.retryDenied()
            try await stage.timer.sleep(for: .milliseconds(100))
            #expect(upstream.done.map(\.text) == ["denied"])
            #expect(await outbox.drain() == 0)
            await outbox.close()
        }
    }

    @Test func retriedWriteIsTheNextProbeDuringAPause() async throws {
        let stage = stage
        let policy = OutboxPolicy(
            concurrency: 1,
            refusalsBeforePause: 1,
            initialPause: .seconds(600),
            jitter: Jitter { 1 }
        )
        let upstream = stage.upstream(refusal)
        let outbox = try stage.outbox(upstream, policy: policy)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entry = try await outbox.accept([OutboxStage.write(["7"], "refused")])[0]
            await #expect(throws: RepositoryError.self) { try await outbox.settlement(of: entry) }
            try await outbox.accept([OutboxStage.write(["8"], "waits")])
            let again = try #require(try await outbox.retry(entry.idempotencyKey))
            try await outbox.settlement(of: again)
            #expect(stage.elapsed < .seconds(600))
            #expect(await outbox.drain() == 0)
            await outbox.close()
        }
        #expect(upstream.done.map(\.text) == ["refused", "waits"])
    }

    @Test func deadLetterCanBeRetriedAtTheDeadLetterLimit() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream(refusal), policy: OutboxPolicy(maximumDeadLetters: 1))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entry = try await refused(OutboxStage.write(["7"]), in: outbox)
            await #expect(throws: RecordStoreError.self) { try await outbox.accept([OutboxStage.write(["8"])]) }
            let again = try #require(try await outbox.retry(entry.idempotencyKey))
            try await outbox.settlement(of: again)
            await outbox.close()
        }
    }

    @Test func pauseIsVisibleToOthersAndReportedByTheNextProcess() async throws {
        let stage = stage
        let policy = OutboxPolicy(refusalsBeforePause: 1, initialPause: .seconds(600), jitter: Jitter { 1 })
        try await stage.scheduler.run {
            let first = try stage.outbox(stage.upstream(refusal), policy: policy)
            try await first.open(handlers: [stage.handler])
            _ = try await refused(OutboxStage.write(["7"]), in: first)
            await first.close()
            let reader = try stage.outbox(stage.upstream(), policy: policy, keySeed: 2)
            #expect(try await reader.contents().pause?.refusals == 1)
            let second = try stage.outbox(stage.upstream(), policy: policy, keySeed: 3)
            try await second.open(handlers: [stage.handler])
            #expect(stage.errors.errors.filter { $0 is OutboxPausedError }.count == 2)
            await second.close()
        }
    }

    @Test func deliveredWriteCannotBeDiscardedBeforeItIsSettled() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream(latency: .seconds(1)))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            try await stage.timer.sleep(for: .milliseconds(500))
            stage.store.fail(with: RecordStoreError(.full, explanation: "The disk is full."))
            try await stage.timer.sleep(for: .seconds(1))
            stage.store.fail(with: nil)
            #expect(try await outbox.contents().pending.map(\.state) == [.outcomeUnknown])
            let error = await #expect(throws: RecordStoreError.self) { try await outbox.discard(entry.idempotencyKey) }
            #expect(error?.reason == .denied)
            try await outbox.settlement(of: entry)
            await outbox.close()
        }
    }

    @Test func deniedWriteIsRetriedWithNewCredentialsEvenAfterAnotherFailure() async throws {
        let stage = stage
        let script = FateScript([.turnedAway(DataResponse(status: 401)), .lost])
        let upstream = IdempotentDataFetcher(timer: stage.timer, fate: { _ in script.next() })
        let policy = OutboxPolicy(initialWait: .seconds(10), jitter: Jitter { 1 })
        let outbox = try stage.outbox(upstream, policy: policy)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            try await stage.timer.sleep(for: .seconds(11))
            outbox.retryDenied()
            try await outbox.settlement(of: entry)
            #expect(stage.elapsed == .seconds(11))
            await outbox.close()
        }
    }

    @Test func writeDeniedAgainWithNewCredentialsWaits() async throws {
        let stage = stage
        let upstream = IdempotentDataFetcher(
            timer: stage.timer,
            fate: { _ in stage.elapsed < .seconds(250) ? .turnedAway(DataResponse(status: 401)) : .done }
        )
        let outbox = try stage.outbox(upstream, policy: OutboxPolicy(initialWait: .seconds(100), jitter: Jitter { 1 }))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            outbox.retryDenied()
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            try await outbox.settlement(of: entry)
            await outbox.close()
        }
        // Sent immediately, after 100 seconds, and after 200 more.
        #expect(upstream.requests.count == 3)
        #expect(stage.elapsed > .seconds(299) && stage.elapsed < .seconds(301))
    }

    @Test func attemptInProgressWithOldCredentialsIsRepeatedImmediately() async throws {
        let stage = stage
        let upstream = stage.upstream(.turnedAway(DataResponse(status: 401)), latency: .seconds(1))
        let outbox = try stage.outbox(upstream, policy: OutboxPolicy(initialWait: .seconds(100), jitter: Jitter { 1 }))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            try await stage.timer.sleep(for: .milliseconds(500))
            outbox.retryDenied()
            try await outbox.settlement(of: entry)
            #expect(stage.elapsed < .seconds(5))
            await outbox.close()
        }
    }
}
