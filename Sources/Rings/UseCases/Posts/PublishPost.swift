public import Entities
public import InwardCore
import Synchronization

/// Publishes what a user wrote, if the rules let it: the draft is valid, its author exists, and the author has not
/// published that title before.
///
/// Two who publish the same title at the same moment are kept apart too, if they share the titles under way. Two processes
/// are kept apart by the source alone, if it does so.
public struct PublishPost: Sendable {
    private let posts: any PostRepository
    private let users: any UserRepository
    private let titlesUnderWay: TitleReservations

    /// Makes the use case over the repositories that have the posts and their authors, and the titles that are under way
    /// with all who publish there.
    public init(posts: any PostRepository, users: any UserRepository, titlesUnderWay: TitleReservations) {
        self.posts = posts
        self.users = users
        self.titlesUnderWay = titlesUnderWay
    }

    /// Publishes a post and gives it with the identity it got; or has it accepted, and gives it as pending, with an identity that
    /// it has until it is published.
    ///
    /// The author and the titles are checked against the source itself, at the same time, before anything is sent; or if it cannot
    /// be asked, against what is kept of it. A damaged record of the author's earlier posts does not keep the author from publishing.
    ///
    /// - Throws: a ``PublishPostError``. Nothing was published unless it is ``PublishPostError/cancelled`` or
    ///   ``PublishPostError/outcomeUnknown(_:)``.
    public func callAsFunction(
        title: String,
        body: String,
        by author: User.ID
    ) async throws(PublishPostError) -> Reading<Post> {
        let draft: PostDraft
        do {
            draft = try PostDraft(authorID: author, title: title, body: body)
        } catch {
            throw .invalidDraft(error)
        }
        guard titlesUnderWay.reserve(draft) else { throw .titleTaken(draft.title) }
        defer { titlesUnderWay.release(draft) }
        try await check(draft)
        do {
            return try await posts.publish(draft)
        } catch {
            throw PublishPostError(error)
        }
    }

    private func check(_ draft: PostDraft) async throws(PublishPostError) {
        let author = draft.authorID
        async let earlier = Result(awaiting: { () async throws(RepositoryError) in
            try await posts.posts(by: author, .upstreamFirst)
        })
        do {
            _ = try await users.user(author, .upstreamFirst)
        } catch {
            throw error.reason == .notFound ? .unknownAuthor(author) : PublishPostError(error)
        }
        switch await earlier {
        case .success(let posts) where posts.value.contains(where: { $0.foldedTitle == draft.foldedTitle }):
            throw .titleTaken(draft.title)
        case .success: return
        case .failure(let error): throw PublishPostError(error)
        }
    }
}

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

/// The titles being published at this moment, so that nobody else publishes them meanwhile.
///
/// Share one among all who publish in a process.
public final class TitleReservations: Sendable {
    private struct Key: Hashable {
        let author: User.ID
        let foldedTitle: String

        init(_ draft: PostDraft) {
            author = draft.authorID
            foldedTitle = draft.foldedTitle
        }
    }

    private let keys = Mutex<Set<Key>>([])

    /// Makes reservations of nothing.
    public init() {}

    /// Takes the draft's title for its author; `false` if it is taken already.
    func reserve(_ draft: PostDraft) -> Bool {
        keys.withLock { $0.insert(Key(draft)).inserted }
    }

    /// Gives back a title that was reserved.
    func release(_ draft: PostDraft) {
        _ = keys.withLock { $0.remove(Key(draft)) }
    }
}
