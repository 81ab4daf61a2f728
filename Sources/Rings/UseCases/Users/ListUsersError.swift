public import InwardCore

/// Why the users could not be listed.
public enum ListUsersError: Error, Hashable, Sendable {
    /// The caller gave up.
    case cancelled
    /// The users cannot be had now; the cause says whether asking again can help.
    case unavailable(RepositoryError)
    /// Whoever has the users does not give them to this caller.
    case denied(RepositoryError)
    /// What came is no list of users.
    case unreadable(RepositoryError)

    init(_ error: RepositoryError) {
        self =
            switch error.reason.code {
            case .cancelled: .cancelled
            case .denied: .denied(error)
            case .unreadable: .unreadable(error)
            case .closed, .notFound, .unavailable, .refused, .outcomeUnknown: .unavailable(error)
            }
    }
}
