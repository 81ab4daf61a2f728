public import Entities
public import InwardCore

/// A use case that changes an author's website and publishes a post about it. Both are accepted, or neither is.
///
/// ```swift
/// let announceWebsite = AnnounceWebsite(
///     posts: posts,
///     users: users,
///     titlesUnderWay: TitleReservations(),
///     unitOfWork: InMemoryUnitOfWork()
/// )
/// let draft = try await announceWebsite("ada.example.org", title: "I have moved", body: "Find me there.", by: User.ID(7))
/// ```
///
/// A unit of work commits both changes together. With two separate writes, a crash between them would leave a post about a
/// website that is not on the author's profile.
public struct AnnounceWebsite: Sendable {
    private let posts: any PostRepository
    private let users: any EditableUserRepository
    private let publishPost: PublishPost
    private let unitOfWork: any UnitOfWork

    /// Creates the use case.
    ///
    /// - Parameters:
    ///   - posts: The repository of the posts.
    ///   - users: The repository of their authors.
    ///   - titlesUnderWay: The reservations that all publishers in the process share.
    ///   - unitOfWork: The unit of work that commits the changes of both repositories.
    public init(
        posts: any PostRepository,
        users: any EditableUserRepository,
        titlesUnderWay: TitleReservations,
        unitOfWork: any UnitOfWork
    ) {
        self.posts = posts
        self.users = users
        self.unitOfWork = unitOfWork
        publishPost = PublishPost(posts: posts, users: users, titlesUnderWay: titlesUnderWay)
    }

    /// Accepts a website and a post about it, both to be delivered later, and returns the draft of the post.
    ///
    /// The rules of ``PublishPost`` apply to the post. Once accepted, the two changes are delivered to the source
    /// independently: the source may accept one and refuse the other.
    ///
    /// - Throws: An ``AnnounceWebsiteError``. In that case, nothing was changed.
    public func callAsFunction(
        _ website: String,
        title: String,
        body: String,
        by author: User.ID
    ) async throws(AnnounceWebsiteError) -> PostDraft {
        guard !website.allSatisfy(\.isWhitespace) else { throw .blankWebsite }
        do throws(PublishPostError) {
            return try await publishPost.accept(title: title, body: body, by: author) {
                draft throws(PublishPostError) in
                try await commit(website, draft)
                return draft
            }
        } catch {
            throw .notPublished(error)
        }
    }

    private func commit(_ website: String, _ draft: PostDraft) async throws(PublishPostError) {
        let (profile, post): ((any PreparedChange)?, any PreparedChange)
        do throws(RepositoryError) {
            profile = try await users.prepareUpdate(of: draft.authorID) { $0.website = website }
            post = try await posts.prepareToPublish(draft)
        } catch {
            throw PublishPostError(error)
        }
        do throws(UnitOfWorkError) {
            try await unitOfWork.commit([profile, post].compactMap(\.self))
        } catch {
            throw PublishPostError(error)
        }
    }
}

/// An error that occurs while announcing a website. Nothing was changed.
///
/// ```swift
/// func message(for error: AnnounceWebsiteError) -> String {
///     switch error {
///     case .blankWebsite: "Enter a website."
///     case .notPublished(.titleTaken(let title)): "You already have a post titled “\(title)”."
///     case .notPublished(let error): "Nothing was changed: \(error)"
///     }
/// }
/// ```
public enum AnnounceWebsiteError: Error, Hashable, Sendable {
    /// The website is empty or only whitespace.
    case blankWebsite
    /// The post could not be published, so the website was not changed either.
    case notPublished(PublishPostError)
}

extension PublishPostError {
    fileprivate init(_ error: UnitOfWorkError) {
        let reason: RepositoryError.Reason =
            switch error.reason.code {
            case .cancelled: .cancelled
            case .denied: .denied
            case .closed: .closed
            case .foreign, .full, .unavailable: .unavailable
            }
        let canRetry = [.full, .unavailable].contains(error.reason)
        // The unit of work's explanation is a complete sentence.
        let cause = error.explanation.hasSuffix(".") ? error.explanation.dropLast() : error.explanation[...]
        let explanation = "were not accepted. \(cause)"
        self.init(
            RepositoryError(reason, request: "The post and the website", explanation: explanation, canRetry: canRetry)
        )
    }
}
