/// The criteria by which circuit breakers and fallbacks recognize failures of the upstream.
///
/// Successful statuses (200 to 299) are never failures, even if listed.
///
///     let criteria = FailureCriteria(reasons: [.unreachable, .timedOut], statuses: 500...599)
public struct FailureCriteria: Hashable, Sendable {
    /// The upstream could not be reached or trusted, the complete response did not arrive in time, or the status reports a
    /// server error (500 to 599).
    public static let standard = Self(
        reasons: [.unreachable, .untrusted, .timedOut, .interrupted],
        statuses: 500...599
    )

    /// The failures of ``standard``, and requests that a limit or an open circuit rejected.
    public static let unavailable = Self(
        reasons: standard.reasons.union([.rejected]),
        statuses: standard.statuses
    )

    /// The error reasons that count as failures.
    public var reasons: Set<FetchError.Reason>
    /// The statuses that count as failures, in responses and in errors created from responses.
    public var statuses: Set<DataResponse.Status>

    /// Creates criteria from error reasons and statuses.
    public init(reasons: Set<FetchError.Reason> = [], statuses: Set<DataResponse.Status> = []) {
        self.reasons = reasons
        self.statuses = statuses
    }

    /// Creates criteria from error reasons and a range of status codes.
    ///
    /// - Parameters:
    ///   - reasons: The error reasons that count as failures.
    ///   - codes: The status codes that count as failures. Codes outside 0 to 999 are ignored.
    public init(reasons: Set<FetchError.Reason> = [], statuses codes: ClosedRange<Int>) {
        self.init(reasons: reasons, statuses: Set(codes.clamped(to: 0...999).map { DataResponse.Status($0) }))
    }

    /// Returns whether a status is a failure.
    ///
    /// - Complexity: O(1).
    public func isFailure(_ status: DataResponse.Status) -> Bool {
        !status.isSuccess && statuses.contains(status)
    }

    /// Returns whether a response is a failure, judging by its status.
    ///
    /// - Complexity: O(1).
    public func isFailure(_ response: DataResponse) -> Bool { isFailure(response.status) }

    /// Returns whether an error is a failure, judging by its reason or by the status of the response it was created from.
    ///
    /// - Complexity: O(1).
    public func isFailure(_ error: FetchError) -> Bool {
        if reasons.contains(error.reason) { return true }
        return error.status.map { isFailure($0) } ?? false
    }
}
