@testable import InwardFetching

extension RetryPolicy {
    /// Returns the decision of the policy's schedule about a request.
    func decision(
        after attempts: Int,
        retryAfter: Duration?,
        remaining: Duration?,
        fraction: Double
    ) -> RetryDecision {
        schedule.decision(after: attempts, retryAfter: retryAfter, remaining: remaining, fraction: fraction)
    }
}
