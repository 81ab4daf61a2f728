package import InwardCore

extension RepositoryError {
    /// All reasons for which a repository can fail.
    package static let allReasons: [Reason] = [
        .cancelled, .closed, .notFound, .unavailable, .denied, .refused, .conflict, .unreadable, .outcomeUnknown,
    ]

    /// Returns an error for tests that check only the reason.
    package static func example(_ reason: Reason) -> Self {
        Self(reason, request: "GET x", explanation: "failed as \(reason)")
    }
}
