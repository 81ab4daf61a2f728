import TestSupport
import Testing

@testable import InwardFetching

struct RetryPolicyTests {
    private typealias Outcome = Result<DataResponse, FetchError>

    private func failure(_ reason: FetchError.Reason) throws -> Outcome {
        .failure(FetchError(reason, request: try .example(), explanation: "failed"))
    }

    private func answer(_ code: Int) -> Outcome { .success(DataResponse(status: .init(code))) }

    @Test func standardPolicyHasThreeAttemptsAndABaseDelayOf100Milliseconds() throws {
        let policy = RetryPolicy.standard
        #expect(policy.attempts == 3)
        #expect(policy.objection(to: try .example(), after: 2, because: answer(503)) == nil)
        #expect(policy.objection(to: try .example(), after: 3, because: answer(503)) == .attemptsExhausted)
        let decision = policy.decision(after: 1, retryAfter: nil, remaining: nil, fraction: 0.5)
        #expect(decision == .retry(after: .milliseconds(50)))
        #expect(policy.budget !== RetryPolicy.standard.budget)
    }

    @Test(arguments: [
        (FetchError.Reason.unreachable, true), (.timedOut, true), (.interrupted, true), (.cancelled, false),
        (.closed, false), (.rejected, false), (.invalidRequest, false), (.untrusted, false), (.tooLarge, false),
        (.tooManyRedirects, false), (.unreadable, false), (.addressRefused, false),
    ])
    func onlyTemporaryFailuresAreRetried(reason: FetchError.Reason, isRetried: Bool) throws {
        let objection = RetryPolicy().objection(to: try .example(), after: 1, because: try failure(reason))
        #expect(objection == (isRetried ? nil : .unsuited))
    }

    @Test func temporaryStatusesAreRetriedAsResponsesAndAsErrors() throws {
        let retried: Set = [408, 425, 429, 500, 502, 503, 504]
        for code in 100..<600 {
            let response = DataResponse(status: .init(code))
            for outcome in [.success(response), .failure(FetchError(response, to: try .example()))] as [Outcome] {
                let objection = RetryPolicy().objection(to: try .example(), after: 1, because: outcome)
                #expect(objection == (retried.contains(code) ? nil : .unsuited), "\(code)")
            }
        }
    }

    @Test func finalReasonsCannotBeRetried() throws {
        let final: [FetchError.Reason] = [.cancelled, .closed, .rejected, .invalidRequest, .addressRefused]
        let policy = RetryPolicy(reasons: Set(final + [.untrusted]), statuses: [404, 200])
        for reason in final {
            #expect(policy.objection(to: try .example(), after: 1, because: try failure(reason)) == .unsuited)
        }
        #expect(policy.objection(to: try .example(), after: 1, because: try failure(.untrusted)) == nil)
        #expect(policy.objection(to: try .example(), after: 1, because: try failure(.timedOut)) == .unsuited)
        #expect(policy.objection(to: try .example(), after: 1, because: answer(404)) == nil)
        #expect(policy.objection(to: try .example(), after: 1, because: answer(200)) == .unsuited)
        #expect(policy.objection(to: try .example(), after: 1, because: answer(503)) == .unsuited)
    }

    @Test func unsafeRequestsAreRetriedIfTheUpstreamWasNotReached() throws {
        let post = try DataRequest.example(method: .post)
        #expect(RetryPolicy().objection(to: post, after: 1, because: try failure(.unreachable)) == nil)
        for outcome in [try failure(.timedOut), try failure(.interrupted), answer(503), answer(429)] {
            #expect(RetryPolicy().objection(to: post, after: 1, because: outcome) == .unrepeatable)
            #expect(RetryPolicy { _ in true }.objection(to: post, after: 1, because: outcome) == nil)
            #expect(
                RetryPolicy { _ in false }.objection(to: try .example(), after: 1, because: outcome) == .unrepeatable
            )
        }
    }

    @Test(arguments: [Int.min, -1, 0, 1])
    func attemptsAreAtLeastOne(attempts: Int) throws {
        let policy = RetryPolicy(attempts: attempts)
        #expect(policy.attempts == 1)
        #expect(policy.objection(to: try .example(), after: 1, because: answer(503)) == .attemptsExhausted)
    }

    @Test func retryAfterIsRespected() {
        let policy = RetryPolicy(baseDelay: .seconds(2), maximumDelay: .seconds(3), maximumRetryAfter: .seconds(30))
        func decision(_ retryAfter: Duration) -> RetryDecision {
            policy.decision(after: 2, retryAfter: retryAfter, remaining: nil, fraction: 0.5)
        }
        #expect(decision(.zero) == .retry(after: .seconds(1.5)))
        #expect(decision(.seconds(10)) == .retry(after: .seconds(11.5)))
        #expect(decision(.seconds(30)) == .retry(after: .seconds(31.5)))
        #expect(decision(.seconds(31)) == .end(.retryAfterTooLong(.seconds(31))))
    }

    @Test func noWaitExceedsTheDeadline() {
        let policy = RetryPolicy(baseDelay: .seconds(2))
        func decision(remaining: Duration, retryAfter: Duration? = nil, fraction: Double = 0.5) -> RetryDecision {
            policy.decision(after: 1, retryAfter: retryAfter, remaining: remaining, fraction: fraction)
        }
        #expect(decision(remaining: .seconds(1) + .nanoseconds(1)) == .retry(after: .seconds(1)))
        #expect(decision(remaining: .seconds(1)) == .end(.deadline))
        #expect(decision(remaining: .seconds(-1)) == .end(.deadline))
        #expect(decision(remaining: .zero, fraction: 0) == .end(.deadline))
        #expect(decision(remaining: .seconds(5), retryAfter: .seconds(4)) == .end(.deadline))
        #expect(decision(remaining: .seconds(5), retryAfter: .seconds(3)) == .retry(after: .seconds(4)))
        #expect(decision(remaining: .seconds(5), retryAfter: .seconds(40)) == .end(.retryAfterTooLong(.seconds(40))))
    }

    @Test func limitsOutOfRangeAreClamped() {
        let none = RetryPolicy(baseDelay: .seconds(-1), maximumRetryAfter: .seconds(-1))
        #expect(none.decision(after: 9, retryAfter: .zero, remaining: nil, fraction: 0.9) == .retry(after: .zero))
        let tooLong = none.decision(after: 1, retryAfter: .nanoseconds(1), remaining: nil, fraction: 0)
        #expect(tooLong == .end(.retryAfterTooLong(.nanoseconds(1))))
    }

    @Test(arguments: [
        (RetryEnding.retryAfterTooLong(.seconds(120)), "the upstream asked to wait 120 seconds"),
        (.retryAfterTooLong(.milliseconds(1_500)), "the upstream asked to wait 2 seconds"),
        (.retryAfterTooLong(.nanoseconds(1)), "the upstream asked to wait 1 second"),
        (
            .retryAfterTooLong(Duration(secondsComponent: 1, attosecondsComponent: 1)),
            "the upstream asked to wait 2 seconds"
        ),
    ])
    func requestedWaitIsDescribedInSeconds(ending: RetryEnding, text: String) {
        #expect(ending.description == text)
    }
}
