public import Entities
public import InwardCore

/// Why a post was not published, or is not known to be.
public enum PublishPostError: Error, Hashable, Sendable {
    /// The caller gave up. If the draft was already on its way, it may have been published.
    case cancelled
    /// What was written breaks a rule of drafts.
    case invalidDraft(PostDraftError)
    /// There is no user of the author's identity.
    case unknownAuthor(User.ID)
    /// The author has published this title before, or is publishing it right now.
    case titleTaken(String)
    /// Whether the author may publish this cannot be told, or it cannot be sent now; nothing was published.
    case unavailable(RepositoryError)
    /// The source does not let this caller publish; nothing was published.
    case denied(RepositoryError)
    /// The source looked at the draft and refused it; nothing was published.
    case refused(RepositoryError)
    /// The source's answers cannot be understood; nothing was published.
    case unreadable(RepositoryError)
    /// The draft was sent and no answer tells whether it was published. Look before publishing it again.
    case outcomeUnknown(RepositoryError)

    init(_ error: RepositoryError) {
        self =
            switch error.reason.code {
            case .cancelled: .cancelled
            case .denied: .denied(error)
            case .refused: .refused(error)
            case .unreadable: .unreadable(error)
            case .outcomeUnknown: .outcomeUnknown(error)
            case .closed, .notFound, .unavailable: .unavailable(error)
            }
    }
}
