public import InwardCore

/// Why the feed could not be read.
public enum ReadFeedError: Error, Hashable, Sendable {
    /// The caller gave up.
    case cancelled
    /// The page size asked for, given here, is outside ``FeedQuery/pageSizes``.
    case pageSizeOutOfRange(Int)
    /// The posts cannot be had now; the cause says whether asking again can help.
    case unavailable(RepositoryError)
    /// Whoever has the posts does not give them to this caller.
    case denied(RepositoryError)
    /// What came is no list of posts.
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

extension ReadFeedError: CustomStringConvertible {
    /// What could not be done and why, as a sentence without its full stop.
    public var description: String {
        switch self {
        case .cancelled: "Reading the feed was cancelled"
        case .pageSizeOutOfRange(let size): "A page of the feed cannot have \(size) entries"
        case .unavailable(let cause), .denied(let cause), .unreadable(let cause): "The feed could not be read: \(cause)"
        }
    }
}
