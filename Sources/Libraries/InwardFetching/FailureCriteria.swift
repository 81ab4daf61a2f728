/// What counts as a failure of the source, for whoever decides by it: a circuit breaker, or what answers in place of who fails.
///
/// A status of success (200 to 299) is never a failure, whatever else is said.
public struct FailureCriteria: Hashable, Sendable {
    /// Nobody was reached or trusted, nothing whole came in time, or the source says that it is at fault (500 to 599).
    public static let standard = Self(
        reasons: [.unreachable, .untrusted, .timedOut, .interrupted],
        statuses: 500...599
    )

    /// The source is at fault as by ``standard``, or nothing was sent because a limit or an open circuit refused it.
    public static let unavailable = Self(
        reasons: standard.reasons.union([.rejected]),
        statuses: standard.statuses
    )

    /// The kinds of error that are failures.
    public var reasons: Set<FetchError.Reason>
    /// The statuses that are failures, in an answer and in the error that an answer became.
    public var statuses: Set<DataResponse.Status>

    /// Counts these reasons and statuses as failures, and nothing else.
    public init(reasons: Set<FetchError.Reason> = [], statuses: Set<DataResponse.Status> = []) {
        self.reasons = reasons
        self.statuses = statuses
    }

    /// Counts these reasons and a range of status codes as failures, and nothing else.
    ///
    /// - Parameters:
    ///   - reasons: The kinds of error.
    ///   - codes: The codes, of which those from 0 to 999 count.
    public init(reasons: Set<FetchError.Reason> = [], statuses codes: ClosedRange<Int>) {
        self.init(reasons: reasons, statuses: Set(codes.clamped(to: 0...999).map { DataResponse.Status($0) }))
    }

    /// Whether an answer with this status is a failure.
    ///
    /// - Complexity: O(1).
    public func isFailure(_ status: DataResponse.Status) -> Bool {
        !status.isSuccess && statuses.contains(status)
    }

    /// Whether an answer is a failure, by its status.
    ///
    /// - Complexity: O(1).
    public func isFailure(_ response: DataResponse) -> Bool { isFailure(response.status) }

    /// Whether an error is a failure, by its reason, or by the status of the answer that it was made of.
    ///
    /// - Complexity: O(1).
    public func isFailure(_ error: FetchError) -> Bool {
        if reasons.contains(error.reason) { return true }
        return error.status.map { isFailure($0) } ?? false
    }
}
