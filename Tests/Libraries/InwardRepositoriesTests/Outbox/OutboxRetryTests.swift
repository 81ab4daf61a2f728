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

@Suite(.timeLimit(.minutes(5)))
struct OutboxRetryTests {
    private let stage = OutboxStage()

    private func answer(_ status: DataResponse.Status, retryAfter: String? = nil) -> IdempotentDataFetcher.Fate {
        var response = DataResponse(status: status)
        response.headerFields[.retryAfter] = retryAfter
        return .turnedAway(response)
    }

    /// Delivers one write, and returns when it was sent.
    private func moments(
        _ fates: [IdempotentDataFetcher.Fate],
        policy: OutboxPolicy = OutboxPolicy(jitter: Jitter { 1 })
    ) async throws -> [Duration] {
        let stage = stage
        let script = FateScript(fates)
        let upstream = IdempotentDataFetcher(timer: stage.timer, fate: { _ in script.next() })
        let log = SendingLog(upstream, timer: stage.timer)
        let outbox = try stage.outbox(log, policy: policy)
        try await stage.scheduler.run { try await stage.settle(by: outbox) }
        #expect(upstream.done.count == 1)
        #expect(Set(upstream.requests.map { $0.headerFields[.idempotencyKey] }).count == 1)
        #expect(outbox.counts.postponed == fates.count)
        return log.moments
    }

    @Test func waitsGrowUpToTheMaximum() async throws {
        let policy = OutboxPolicy(
            initialWait: .seconds(2),
            factor: 3,
            maximumWait: .seconds(20),
            jitter: Jitter { 1 }
        )
        let moments = try await moments([.lost, .answerLost, .lost, .lost, .lost], policy: policy)
        #expect(moments.map(\.components.seconds) == [0, 2, 8, 26, 46, 66])
    }

    @Test func jitterShortensAWait() async throws {
        let policy = OutboxPolicy(initialWait: .seconds(8), jitter: Jitter { 0.25 })
        let moments = try await moments([.lost, .lost], policy: policy)
        #expect(moments == [.zero, .seconds(2), .seconds(6)])
    }

    @Test func retryAfterIsHonored() async throws {
        let policy = OutboxPolicy(maximumRetryAfter: .seconds(1_000), jitter: Jitter { 0 })
        let fates = [answer(503, retryAfter: "100"), answer(429, retryAfter: "5000"), answer(503)]
        let moments = try await moments(fates, policy: policy)
        #expect(moments == [.zero, .seconds(100), .seconds(1_100), .seconds(1_100)])
    }

    @Test func retryAfterDateIsCountedFromNow() async throws {
        // The outbox's clock says 22:13:20.25 on 14 November 2023.
        let policy = OutboxPolicy(jitter: Jitter { 0 })
        let fates = [answer(503, retryAfter: "Tue, 14 Nov 2023 22:15:00 GMT")]
        #expect(try await moments(fates, policy: policy) == [.zero, .milliseconds(99_750)])
    }

    @Test func deniedWriteIsSentAgainAndReportedOnce() async throws {
        let moments = try await moments([answer(401), answer(403), answer(401)])
        #expect(moments.count == 4)
        let told = stage.errors.errors.compactMap { $0 as? DelayedWriteError }
        #expect(told.count == 1)
        #expect((told.first?.cause as? RepositoryError)?.reason == .denied)
        #expect(told.first?.description.contains(" is still pending after 1 failed attempt, and") == true)
        #expect(stage.errors.errors.count == 1)
    }

    @Test func longDelayIsReportedOnce() async throws {
        let fates = [IdempotentDataFetcher.Fate](repeating: .lost, count: 6)
        _ = try await moments(fates, policy: OutboxPolicy(reportedAttempts: 3))
        let told = stage.errors.errors.compactMap { $0 as? DelayedWriteError }
        #expect(told.map(\.entry.attempts) == [3])
        #expect(told.first?.description.contains(" is still pending after 3 failed attempts, and") == true)
    }

    @Test func attemptEndsAtItsTimeLimit() async throws {
        let stage = stage
        let policy = OutboxPolicy(initialWait: .seconds(1), attemptLimit: .seconds(10), jitter: Jitter { 0 })
        let upstream = stage.upstream(latency: .seconds(30))
        let outbox = try stage.outbox(upstream, policy: policy)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            try await outbox.accept([OutboxStage.write(["7"])])
            try await stage.timer.sleep(for: .seconds(25))
            await outbox.close()
        }
        #expect(outbox.counts.attempts == 3)
    }

    @Test func settlementIsRetriedWithoutSendingAgain() async throws {
        let stage = stage
        let upstream = stage.upstream(latency: .seconds(1))
        let outbox = try stage.outbox(upstream)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            try await stage.timer.sleep(for: .milliseconds(500))
            stage.store.fail(with: RecordStoreError(.full, explanation: "There is no room."))
            try await stage.timer.sleep(for: .milliseconds(1_000))
            #expect(outbox.pending.map(\.attempts) == [0])
            #expect(stage.handler.events == [.accepted(entry), .delivered(entry, later: 0)])
            // While the disk is full, the answered write is not sent again.
            try await stage.timer.sleep(for: .seconds(3_600))
            #expect(upstream.requests.count == 1)
            // The outbox retries the settlement at growing intervals.
            #expect((5..<30).contains(stage.handler.events.count))
            stage.store.fail(with: nil)
            try await outbox.settlement(of: entry)
            await outbox.close()
        }
        #expect(upstream.done.count == 1)
        #expect(upstream.requests.count == 1)
        #expect(outbox.counts.attempts == 1)
        let told = stage.errors.errors.compactMap { $0 as? DelayedWriteError }
        let failure = try #require(told.first?.cause as? RecordStoreError)
        #expect(failure.reason == .full)
        // The upstream has done the write, so there is no failed attempt to count.
        let sentence = "The write POST 7 is still pending, and the outbox keeps trying: \(failure)"
        #expect(told.first?.description == sentence)
        #expect(stage.errors.errors.count == 1)
    }

    @Test func failingHandlerIsCalledAgain() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream())
        stage.handler.fail(with: RecordStoreError(.unavailable, explanation: "It is not there."))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            try await stage.timer.sleep(for: .milliseconds(500))
            #expect(outbox.pending.map(\.idempotencyKey) == [entry.idempotencyKey])
            stage.handler.fail(with: nil)
            try await outbox.settlement(of: entry)
            // The handler is called again after the first wait.
            #expect(stage.elapsed > .milliseconds(999) && stage.elapsed <= .seconds(1))
            await outbox.close()
            #expect(try await stage.values() == [["7"]: "1"])
        }
    }

    @Test func attemptsAndWaitsContinueInTheNextProcess() async throws {
        let stage = stage
        let upstream = stage.upstream(.lost, .lost, .lost)
        let log = SendingLog(upstream, timer: stage.timer)
        try await stage.scheduler.run {
            let first = try stage.outbox(log)
            try await first.open(handlers: [stage.handler])
            let entry = try await first.accept([OutboxStage.write(["7"])])[0]
            try await stage.timer.sleep(for: .milliseconds(1_500))
            await first.close()
            let second = try stage.outbox(log, keySeed: 2)
            try await second.open(handlers: [stage.handler])
            #expect(second.pending.map(\.attempts) == [2])
            try await second.settlement(of: entry)
            await second.close()
            #expect(try await stage.store.records(under: second.records.prefix).count == 1)
        }
        // The second process continues with the second wait, of two seconds, and then with the third.
        #expect(log.moments == [.zero, .seconds(1), .seconds(3), .seconds(7)])
    }

    @Test func waitingWriteDoesNotDelayOtherSubjects() async throws {
        let stage = stage
        let upstream = IdempotentDataFetcher(
            timer: stage.timer,
            fate: { $0.url.lastPathComponent == "bad" ? .lost : .done }
        )
        let outbox = try stage.outbox(upstream, policy: OutboxPolicy(concurrency: 1, jitter: Jitter { 1 }))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entries = try await outbox.accept([OutboxStage.write(["bad"]), OutboxStage.write(["good"])])
            try await outbox.settlement(of: entries[1])
            #expect(stage.elapsed == .zero)
            await outbox.close()
        }
    }

    @Test(arguments: [false, true])
    func deniedWriteIsSentWhenRenewedCredentialsAreAccepted(renewalFails: Bool) async throws {
        let stage = stage
        let upstream = IdempotentDataFetcher(
            timer: stage.timer,
            fate: { $0.headerFields[.authorization] == "Bearer 2" ? .done : .turnedAway(DataResponse(status: 401)) }
        )
        let serial = Mutex(0)
        let request = try DataRequest.example("http://localhost/api/posts")
        let credentials = Credentials(for: request.url, timer: stage.timer) { () throws(FetchError) in
            let number = serial.withLock { serial in
                serial += 1
                return serial
            }
            if renewalFails, number == 1 {
                throw FetchError(.unreachable, request: request, explanation: "reached nobody")
            }
            return .bearer("\(number)")
        }
        let authorized = upstream.authorizing(with: credentials)
        let policy = OutboxPolicy(initialWait: .seconds(100), jitter: Jitter { 1 })
        let outbox = Outbox(
            upstream: Upstream(baseURL: request.url, dataFetcher: authorized),
            store: stage.store,
            policy: policy,
            timer: stage.timer,
            generator: SplitMix64(seed: 1),
            errorHandler: stage.errors
        )
        credentials.whenRenewed { [weak outbox] in outbox?.retryDenied() }
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            try await stage.timer.sleep(for: .seconds(10))
            #expect(upstream.done.isEmpty)
            // A read renews the credentials.
            _ = try await authorized.fetch(request)
            try await outbox.settlement(of: entry)
            #expect(stage.elapsed == .seconds(10))
            // The attempt with the old credentials counts only if it was sent.
            #expect(outbox.counts.attempts == (renewalFails ? 1 : 2))
            await outbox.close()
        }
    }

    @Test func writeDoesNotWaitIfCredentialsAreRenewedWhileItsRefusalIsRecorded() async throws {
        let stage = stage
        let attempts = Mutex(0)
        let upstream = IdempotentDataFetcher(
            timer: stage.timer,
            fate: { _ in
                let number = attempts.withLock { attempts in
                    attempts += 1
                    return attempts
                }
                return number == 1 ? .turnedAway(DataResponse(status: 401)) : .done
            }
        )
        let store = SlowRecordStore(stage.store, timer: stage.timer)
        let policy = OutboxPolicy(initialWait: .seconds(100), jitter: Jitter { 1 })
        let outbox = try stage.outbox(upstream, store: store, policy: policy)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            // Recording the refusal takes a second.
            while attempts.withLock({ $0 }) == 0 { try await stage.timer.sleep(for: .milliseconds(100)) }
            let start = stage.elapsed
            try await stage.timer.sleep(for: .milliseconds(500))
            outbox.retryDenied()
            try await outbox.settlement(of: entry)
            #expect(stage.elapsed - start < .seconds(10))
            await outbox.close()
        }
    }

    @Test func requestRepeatedWithNewCredentialsCountsTwice() async throws {
        let stage = stage
        let upstream = IdempotentDataFetcher(
            timer: stage.timer,
            fate: { $0.headerFields[.authorization] == "Bearer 1" ? .done : .turnedAway(DataResponse(status: 401)) }
        )
        let url = try Upstream.example(upstream).baseURL
        let credentials = Credentials(.bearer("0"), for: url, allowingPlainHTTP: true, timer: stage.timer) {
            () throws(FetchError) in
            .bearer("1")
        }
        let outbox = try stage.outbox(upstream.authorizing(with: credentials))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            try await outbox.settlement(of: entry)
            #expect(outbox.counts == OutboxCounts(accepted: 1, attempts: 2, delivered: 1))
            await outbox.close()
        }
    }
}
