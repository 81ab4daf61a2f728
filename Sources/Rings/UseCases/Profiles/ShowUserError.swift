public import Entities
public import InwardCore

/// Why a user could not be shown.
public enum ShowUserError: Error, Hashable, Sendable {
    /// The caller gave up.
    case cancelled
    /// There is no user of this identity.
    case notFound(User.ID)
    /// The user cannot be had now; the cause says whether asking again can help.
    case unavailable(RepositoryError)
    /// Whoever has the user does not give it to this caller.
    case denied(RepositoryError)
    /// What came is no user, or a damaged one.
    case unreadable(RepositoryError)

    init(_ error: RepositoryError, id: User.ID) {
        self =
            switch error.reason.code {
            case .cancelled: .cancelled
            case .notFound: .notFound(id)
            case .denied: .denied(error)
            case .unreadable: .unreadable(error)
            case .closed, .unavailable, .refused, .outcomeUnknown: .unavailable(error)
            }
    }
}
