@testable import InwardFetching

extension RetryPolicy {
    /// When the policy's schedule has a request tried again.
    func decision(
        after attempts: Int,
        retryAfter: Duration?,
        remaining: Duration?,
        fraction: Double
    ) -> RetryDecision {
        schedule.decision(after: attempts, retryAfter: retryAfter, remaining: remaining, fraction: fraction)
    }
}
