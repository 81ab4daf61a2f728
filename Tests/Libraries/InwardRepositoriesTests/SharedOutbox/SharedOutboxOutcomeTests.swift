import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct SharedOutboxOutcomeTests {
    private let stage = SharedOutboxStage()
    private let partition = SharedOutboxStage.partition
    private let refusal = IdempotentDataFetcher.Fate.turnedAway(DataResponse(status: 422))
    private let overload = IdempotentDataFetcher.Fate.turnedAway(DataResponse(status: 503))

    private func handler(_ terms: OutboxTerms) -> DecidingHandler { DecidingHandler(base: stage.handler, terms: terms) }

    @Test func lostRequestIsSentAgainWithTheSameKeyAfterAWait() async throws {
        let upstream = stage.upstream(.lost, .answerLost, overload)
        let outbox = try stage.outbox(upstream)
        try await stage.delivering(by: [outbox]) { [stage, partition] in
            try await outbox.accept([SharedOutboxStage.write(["7"])], in: partition)
            try await stage.until { upstream.requests.count == 2 }
            let item = try #require(try await outbox.pending(in: partition).first)
            #expect(
                item.state == .outcomeUnknown && item.attempts == 2 && item.cause?.contains("response was lost") == true
            )
            try await stage.untilDelivered(outbox)
        }
        #expect(Set(upstream.requests.map { $0.headerFields[.idempotencyKey] }).count == 1)
        #expect(upstream.requests.count == 4 && upstream.done.count == 1)
        #expect(outbox.counts == OutboxCounts(accepted: 1, attempts: 4, postponed: 3, delivered: 1))
        // 1, 2 and 4 seconds, each up to a poll interval longer.
        #expect(stage.elapsed >= .seconds(7) && stage.elapsed <= .seconds(11))
    }

    @Test func refusedWriteIsADeadLetterAndTheNextOneIsSent() async throws {
        let upstream = stage.upstream(refusal)
        let outbox = try stage.outbox(upstream)
        try await stage.delivering(by: [outbox]) { [stage, partition] in
            try await outbox.accept([SharedOutboxStage.write(["7"], "1")], in: partition)
            try await outbox.accept([SharedOutboxStage.write(["7"], "2")], in: partition)
            try await stage.untilDelivered(outbox)
            let letter = try #require(try await outbox.deadLetters(in: partition).first)
            #expect(letter.write?.body == Array("1".utf8) && letter.attempts == 1)
            #expect(letter.cause?.contains("422") == true)
            // Another partition has none.
            #expect(try await outbox.deadLetters(in: "users/2").isEmpty)
            #expect(try await outbox.resend(letter.id, in: partition))
            try await stage.untilDelivered(outbox)
            #expect(try await outbox.deadLetters(in: partition).isEmpty)
            #expect(try await !outbox.resend(letter.id, in: partition))
        }
        #expect(upstream.done.map(\.text) == ["2", "1"])
        #expect(Set(upstream.requests.map { $0.headerFields[.idempotencyKey] }).count == 3)
        #expect(stage.errors.errors.contains { $0 is RefusedWriteError })
    }

    @Test func deadLettersAreDiscardedOrExpire() async throws {
        let upstream = stage.upstream(refusal, refusal)
        let outbox = try stage.outbox(upstream, policy: SharedOutboxPolicy(deadLetterRetention: .seconds(100)))
        try await stage.delivering(by: [outbox]) { [stage, partition] in
            for number in 1...2 { try await outbox.accept([SharedOutboxStage.write(["\(number)"])], in: partition) }
            try await stage.untilDelivered(outbox)
            let letters = try await outbox.deadLetters(in: partition)
            #expect(letters.count == 2)
            #expect(try await outbox.discard(letters[0].id, in: partition))
            #expect(try await !outbox.discard(letters[0].id, in: partition))
            #expect(try await outbox.deadLetters(in: partition).map(\.id) == [letters[1].id])
            try await stage.timer.sleep(for: .seconds(100))
            #expect(try await outbox.deadLetters(in: partition).isEmpty)
        }
    }

    @Test func endpointThatGoesOnAfterItsAttemptLimitSendsTheNextWrite() async throws {
        let upstream = stage.upstream(overload, overload)
        let handler = handler(OutboxTerms(attemptLimit: 2, afterLimit: .goOn))
        let outbox = try stage.outbox(upstream, handler: handler)
        try await stage.delivering(by: [outbox]) { [stage, partition] in
            for text in ["1", "2"] { try await outbox.accept([SharedOutboxStage.write(["7"], text)], in: partition) }
            try await stage.untilDelivered(outbox)
            let letters = try await outbox.deadLetters(in: partition)
            #expect(letters.map(\.attempts) == [2])
        }
        #expect(upstream.requests.map(\.text) == ["1", "1", "2"])
    }

    @Test(arguments: [true, false])
    func endpointThatHoldsAfterItsAttemptLimitWaitsForADecision(isResent: Bool) async throws {
        let upstream = stage.upstream(overload, overload)
        let outbox = try stage.outbox(upstream, handler: handler(OutboxTerms(attemptLimit: 2)))
        try await stage.delivering(by: [outbox]) { [stage, partition] in
            for text in ["1", "2"] { try await outbox.accept([SharedOutboxStage.write(["7"], text)], in: partition) }
            try await stage.timer.sleep(for: .seconds(3_600))
            #expect(upstream.requests.map(\.text) == ["1", "1"])
            let items = try await outbox.pending(in: partition)
            let first = try #require(items.first)
            guard case .undeliverable(.awaitingDecision(let cause)) = first.state else {
                Issue.record("The state is \(first.state).")
                return
            }
            #expect(cause.contains("503") && items.count == 2 && first.attempts == 2)
            await #expect(throws: RecordStoreError.self) { try await outbox.resend(items[1].id, in: partition) }
            if isResent {
                #expect(try await outbox.resend(first.id, in: partition))
            } else {
                #expect(try await outbox.discard(first.id, in: partition))
            }
            try await stage.untilDelivered(outbox)
        }
        #expect(upstream.done.map(\.text) == (isResent ? ["1", "2"] : ["2"]))
        #expect(stage.elapsed < .seconds(3_605))
        #expect(stage.errors.errors.count { $0 is HeldWriteError } == 1)
    }

    @Test func writeWhoseOutcomeIsUnknownIsHeldAtTheResendLimit() async throws {
        let upstream = stage.upstream(.answerLost, .lost, .lost, .lost, .lost, .lost, .lost)
        let policy = SharedOutboxPolicy(
            delivery: OutboxPolicy(attemptLimit: .seconds(20), jitter: Jitter { 1 }),
            resendLimit: .seconds(10)
        )
        let outbox = try stage.outbox(upstream, policy: policy)
        try await stage.delivering(by: [outbox]) { [stage, partition] in
            let entry = try await outbox.accept([SharedOutboxStage.write(["7"])], in: partition)[0]
            try await stage.timer.sleep(for: .seconds(3_600))
            // At 0, 1, 3 and 7 seconds, but not at 15.
            #expect(upstream.requests.count == 4)
            let error = try #require(stage.errors.errors.compactMap { $0 as? HeldWriteError }.first)
            #expect(error.reason == .resendLimit(.seconds(10)) && error.entry.idempotencyKey == entry.idempotencyKey)
            #expect(try await outbox.discard(entry.idempotencyKey, in: partition))
        }
        #expect(try await stage.store.records(under: ["outbox"]).isEmpty)
    }

    @Test func writeThatCannotHaveArrivedHasNoResendLimit() async throws {
        let upstream = stage.upstream(.lost, .lost, .lost, .lost, .lost, .lost)
        let policy = SharedOutboxPolicy(
            delivery: OutboxPolicy(attemptLimit: .seconds(20), jitter: Jitter { 1 }),
            resendLimit: .seconds(10)
        )
        let outbox = try stage.outbox(upstream, policy: policy)
        try await stage.delivering(by: [outbox]) { [stage, partition] in
            try await outbox.accept([SharedOutboxStage.write(["7"])], in: partition)
            try await stage.untilDelivered(outbox)
        }
        #expect(upstream.done.count == 1)
    }

    @Test(arguments: [true, false])
    func repeatedRefusalIsFinalOnlyIfTheUpstreamStoresRefusals(storesRefusals: Bool) async throws {
        let upstream = stage.upstream(.answerLost, refusal)
        let outbox = try stage.outbox(upstream, handler: handler(OutboxTerms(storesRefusals: storesRefusals)))
        try await stage.delivering(by: [outbox]) { [stage, partition] in
            try await outbox.accept([SharedOutboxStage.write(["7"])], in: partition)
            try await stage.untilDelivered(outbox)
            #expect(try await outbox.deadLetters(in: partition).count == (storesRefusals ? 1 : 0))
        }
        #expect(upstream.requests.count == (storesRefusals ? 2 : 3))
    }

    @Test(arguments: [OutboxTerms.Order.subject, .partition])
    func writeThatCannotBeDeliveredDelaysOthersAsItsEndpointAsks(order: OutboxTerms.Order) async throws {
        let upstream = stage.upstream(overload)
        let outbox = try stage.outbox(upstream, handler: handler(OutboxTerms(order: order)))
        try await stage.delivering(by: [outbox]) { [stage, partition] in
            try await outbox.accept([SharedOutboxStage.write(["1"], "1")], in: partition)
            try await stage.until { upstream.requests.count == 1 }
            try await outbox.accept([SharedOutboxStage.write(["2"], "2")], in: partition)
            try await outbox.accept([SharedOutboxStage.write(["1"], "3")], in: "users/2")
            try await stage.untilDelivered(outbox)
        }
        let done = upstream.done.map(\.text)
        #expect(Set(done) == ["1", "2", "3"])
        #expect(order == .subject ? done.last == "1" : done.firstIndex(of: "1") == 1 && done.last == "2")
    }

    @Test func writeWithoutAHandlerIsDiscarded() async throws {
        let upstream = stage.upstream()
        let (old, new) = (
            try stage.outbox(upstream, handler: RecordingOutboxHandler("old")), try stage.outbox(upstream)
        )
        try await stage.delivering(by: [new]) { [stage, partition] in
            let entry = try await old.accept([SharedOutboxStage.write(["7"], endpoint: "old")], in: partition)[0]
            try await new.accept([SharedOutboxStage.write(["7"], "2")], in: partition)
            try await stage.until { !stage.errors.errors.isEmpty }
            #expect(stage.errors.errors.first is UndeliverableEntryError)
            #expect(try await new.discard(entry.idempotencyKey, in: partition))
            try await stage.untilDelivered(new)
        }
        #expect(upstream.done.map(\.text) == ["2"])
    }

    @Test func writeThatEndsItsProcessIsGivenUpAtTheAttemptLimit() async throws {
        let upstream = stage.upstream()
        let handler = handler(OutboxTerms(attemptLimit: 2, afterLimit: .goOn))
        let note = AttemptNote(attempts: 1, mayHaveArrived: true, isSending: true)
        let outbox = try stage.outbox(upstream, handler: handler)
        let entries = try await outbox.accept([SharedOutboxStage.write(["7"])], in: partition)
        let lane = OutboxLane(of: entries[0].write, in: partition, handler.terms)
        try await stage.store.commit([.keep(StoredRecord(note.bytes), outbox.records.note(1, of: lane))])
        try await stage.delivering(by: [outbox]) { [stage, partition] in
            try await stage.untilDelivered(outbox)
            let letter = try #require(try await outbox.deadLetters(in: partition).first)
            #expect(letter.cause?.contains("given up after 2 failed attempts") == true && letter.attempts == 2)
        }
        #expect(upstream.requests.isEmpty)
    }

    @Test func repeatedConflictsAreCountedAcrossAttempts() async throws {
        // After an attempt without an answer, a 409 may be that attempt in progress, but not each time.
        let busy = IdempotentDataFetcher.Fate.turnedAway(DataResponse(status: 409))
        let upstream = stage.upstream(.answerLost, busy, busy, busy, busy, busy)
        let outbox = try stage.outbox(upstream)
        try await stage.delivering(by: [outbox]) { [stage, partition] in
            let write = OutboxWrite(endpoint: "posts", subject: ["7"], method: .put, path: "7", body: [49])
            try await outbox.accept([write], in: partition)
            try await stage.untilDelivered(outbox)
            #expect(try await outbox.deadLetters(in: partition).count == 1)
        }
        #expect(upstream.requests.count == 5)
    }
}
