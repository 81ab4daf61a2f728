package import InwardCore

extension RepositoryError {
    /// Every reason that a repository can fail for.
    package static let allReasons: [Reason] = [
        .cancelled, .closed, .notFound, .unavailable, .denied, .refused, .conflict, .unreadable, .outcomeUnknown,
    ]

    /// An error of which only the reason matters.
    package static func example(_ reason: Reason) -> Self {
        Self(reason, request: "GET x", explanation: "failed as \(reason)")
    }
}
