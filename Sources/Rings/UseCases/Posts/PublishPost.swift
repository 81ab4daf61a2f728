public import Entities
public import InwardCore
import Synchronization

/// A use case that publishes a post if its draft is valid, its author exists, and the author has no other post with that title,
/// ignoring case.
///
/// ```swift
/// let publishPost = PublishPost(posts: posts, users: users, titlesUnderWay: TitleReservations())
/// let post = try await publishPost(title: "Notes", body: "On the engine.", by: User.ID(7))
/// ```
///
/// Publishers that share one ``TitleReservations`` never publish two posts of an author with the same title. Other processes can.
public struct PublishPost: Sendable {
    private let posts: any PostRepository
    private let users: any UserRepository
    private let titlesUnderWay: TitleReservations

    /// Creates the use case with the repositories of the posts and their authors, and the reservations that all publishers in
    /// the process share.
    public init(posts: any PostRepository, users: any UserRepository, titlesUnderWay: TitleReservations) {
        self.posts = posts
        self.users = users
        self.titlesUnderWay = titlesUnderWay
    }

    /// Publishes a post, or accepts it for later delivery and returns it as pending, with a temporary identity.
    ///
    /// Before anything is sent, the author and the author's titles are checked concurrently against the source, or against
    /// cached data if the source cannot be reached. Damaged records among the author's posts do not prevent publication.
    ///
    /// - Throws: A ``PublishPostError``. Nothing was published, unless the error is ``PublishPostError/cancelled`` or
    ///   ``PublishPostError/outcomeUnknown(_:)``.
    public func callAsFunction(
        title: String,
        body: String,
        by author: User.ID
    ) async throws(PublishPostError) -> Reading<Post> {
        try await accept(title: title, body: body, by: author) { draft throws(PublishPostError) in
            do throws(RepositoryError) {
                return try await posts.publish(draft)
            } catch {
                throw PublishPostError(error)
            }
        }
    }

    /// Checks a post and passes its draft to a closure that accepts it. The title stays reserved until the closure returns.
    func accept<Accepted: Sendable>(
        title: String,
        body: String,
        by author: User.ID,
        _ accept: (PostDraft) async throws(PublishPostError) -> Accepted
    ) async throws(PublishPostError) -> Accepted {
        let draft: PostDraft
        do {
            draft = try PostDraft(authorID: author, title: title, body: body)
        } catch {
            throw .invalidDraft(error)
        }
        guard titlesUnderWay.reserve(draft) else { throw .titleTaken(draft.title) }
        defer { titlesUnderWay.release(draft) }
        try await check(draft)
        return try await accept(draft)
    }

    private func check(_ draft: PostDraft) async throws(PublishPostError) {
        let author = draft.authorID
        let earlier: Result<Reading<[Post]>, RepositoryError>
        do throws(RepositoryError) {
            (earlier, _) = try await concurrently(
                { [posts] () async throws(RepositoryError) in try await posts.posts(by: author, .upstreamFirst) },
                { () async throws(RepositoryError) in try await users.user(author, .upstreamFirst) }
            )
        } catch {
            throw error.reason == .notFound ? .unknownAuthor(author) : PublishPostError(error)
        }
        switch earlier {
        case .success(let posts) where posts.value.contains(where: { $0.foldedTitle == draft.foldedTitle }):
            throw .titleTaken(draft.title)
        case .success: return
        case .failure(let error): throw PublishPostError(error)
        }
    }
}

/// An error that occurs while publishing a post. See <doc:GettingStarted> for an example.
public enum PublishPostError: Error, Hashable, Sendable {
    /// The calling task was cancelled. If the draft was already sent, it may have been published.
    case cancelled
    /// The draft violates a rule.
    case invalidDraft(PostDraftError)
    /// The author does not exist.
    case unknownAuthor(User.ID)
    /// The author already has a post with this title, or is publishing one.
    case titleTaken(String)
    /// The post could not be checked or sent now. Nothing was published.
    case unavailable(RepositoryError)
    /// The source denies this caller permission to publish. Nothing was published.
    case denied(RepositoryError)
    /// The source refused the draft. Nothing was published.
    case refused(RepositoryError)
    /// The source's answers cannot be read. Nothing was published.
    case unreadable(RepositoryError)
    /// The draft was sent, but no answer tells whether it was published. Check before publishing it again.
    case outcomeUnknown(RepositoryError)

    init(_ error: RepositoryError) {
        self =
            switch error.reason.code {
            case .cancelled: .cancelled
            case .denied: .denied(error)
            case .refused, .conflict: .refused(error)
            case .unreadable: .unreadable(error)
            case .outcomeUnknown: .outcomeUnknown(error)
            case .closed, .notFound, .unavailable: .unavailable(error)
            }
    }
}

/// The titles that are being published. Each is reserved for its author, so concurrent calls cannot publish it twice.
///
/// Share one instance among all publishers in a process, as <doc:GettingStarted> shows.
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

    /// Creates an empty set of reservations.
    public init() {}

    /// Reserves the draft's title for its author; returns `false` if it is already reserved.
    func reserve(_ draft: PostDraft) -> Bool {
        keys.withLock { $0.insert(Key(draft)).inserted }
    }

    /// Releases the reservation of the draft's title.
    func release(_ draft: PostDraft) {
        _ = keys.withLock { $0.remove(Key(draft)) }
    }
}
