public import Entities
public import InwardCore
import Synchronization

/// A use case that changes the title or the body of a post, if the result follows the rules of ``PublishPost``.
///
/// ```swift
/// let editPost = EditPost(posts: posts, titlesUnderWay: TitleReservations())
/// let post = try await editPost(Post.ID(1), body: "On the engine, and on its inventor.")
/// ```
///
/// Editors and publishers that share one ``TitleReservations`` never give two posts of an author the same title. Other processes
/// can.
public struct EditPost: Sendable {
    private let posts: any EditablePostRepository
    private let titlesUnderWay: TitleReservations

    /// Creates the use case with the repository of the posts, and the reservations that all publishers in the process share.
    public init(posts: any EditablePostRepository, titlesUnderWay: TitleReservations) {
        self.posts = posts
        self.titlesUnderWay = titlesUnderWay
    }

    /// Changes a post, or accepts the change for later delivery and returns the post as pending.
    ///
    /// The post is read from the source before it is changed, or from cached data if the source cannot be reached.
    ///
    /// - Parameters:
    ///   - id: The identity of the post.
    ///   - title: The new title; `nil` to keep the title.
    ///   - body: The new body; `nil` to keep the body.
    ///   - isExpected: Returns whether a version of the post is the one that the caller wants to change. If it is not, nothing
    ///     is changed.
    /// - Returns: The changed post.
    /// - Throws: A ``ChangePostError``. Nothing was changed, unless the error is ``ChangePostError/cancelled`` or
    ///   ``ChangePostError/outcomeUnknown(_:)``.
    public func callAsFunction(
        _ id: Post.ID,
        title: String? = nil,
        body: String? = nil,
        ifCurrent isExpected: @escaping @Sendable (Post) -> Bool = { _ in true }
    ) async throws(ChangePostError) -> Reading<Post> {
        let current = try await posts.current(id, ifCurrent: isExpected)
        let draft: PostDraft
        do {
            draft = try current.draft(title: title, body: body)
        } catch {
            throw .invalidDraft(error)
        }
        guard draft.foldedTitle != current.foldedTitle else {
            return try await update(current, title, body, isExpected)
        }
        guard titlesUnderWay.reserve(draft) else { throw .titleTaken(draft.title) }
        defer { titlesUnderWay.release(draft) }
        try await check(draft, as: id)
        return try await update(current, title, body, isExpected)
    }

    /// Checks that the author has no other post with the title of a draft.
    private func check(_ draft: PostDraft, as id: Post.ID) async throws(ChangePostError) {
        do throws(RepositoryError) {
            let others = try await posts.posts(by: draft.authorID, .upstreamFirst).value
            guard others.contains(where: { $0.id != id && $0.foldedTitle == draft.foldedTitle }) else { return }
        } catch {
            throw ChangePostError(error, of: id)
        }
        throw .titleTaken(draft.title)
    }

    private func update(
        _ current: Post,
        _ title: String?,
        _ body: String?,
        _ isExpected: @escaping @Sendable (Post) -> Bool
    ) async throws(ChangePostError) -> Reading<Post> {
        // The repository may have a later version than the one that was checked.
        let unexpected = Mutex<Post?>(nil)
        let reading: Reading<Post>
        do throws(RepositoryError) {
            reading = try await posts.update(current.id) { post in
                let draft = isExpected(post) ? try? post.draft(title: title, body: body) : nil
                unexpected.withLock { [post] in $0 = draft == nil ? post : nil }
                if let draft { post = draft.published(as: post.id) }
            }
        } catch {
            throw await posts.changeError(error, of: current.id)
        }
        if let post = unexpected.withLock(\.self) { throw .changedElsewhere(post) }
        return reading
    }
}

/// An error that occurs while editing or deleting a post.
///
/// ```swift
/// func message(for error: ChangePostError) -> String {
///     switch error {
///     case .changedElsewhere(let post?): "Somebody has changed “\(post.title)”. Read it again."
///     case .invalidDraft(let error): error.description
///     default: "The post was not changed: \(error)"
///     }
/// }
/// ```
public enum ChangePostError: Error, Hashable, Sendable {
    /// The calling task was cancelled. If the change was already sent, it may have been made.
    case cancelled
    /// The post does not exist.
    case notFound(Post.ID)
    /// The post has another version than the caller expects. The associated value is that version, or `nil` if it is not known.
    /// Nothing was changed.
    case changedElsewhere(Post?)
    /// The result would violate a rule. Nothing was changed.
    case invalidDraft(PostDraftError)
    /// The author already has another post with this title, or is publishing one. Nothing was changed.
    case titleTaken(String)
    /// The post could not be read or changed now. Nothing was changed.
    case unavailable(RepositoryError)
    /// The source denies this caller permission to change the post. Nothing was changed.
    case denied(RepositoryError)
    /// The source refused the change. Nothing was changed.
    case refused(RepositoryError)
    /// The source's answers cannot be read. Nothing was changed.
    case unreadable(RepositoryError)
    /// The change was sent, but no answer tells whether it was made. Read the post before you change it again.
    case outcomeUnknown(RepositoryError)

    init(_ error: RepositoryError, of id: Post.ID) {
        self =
            switch error.reason.code {
            case .cancelled: .cancelled
            case .notFound: .notFound(id)
            case .conflict: .changedElsewhere(nil)
            case .denied: .denied(error)
            case .refused: .refused(error)
            case .unreadable: .unreadable(error)
            case .outcomeUnknown: .outcomeUnknown(error)
            case .closed, .unavailable: .unavailable(error)
            }
    }
}

extension EditablePostRepository {
    /// Returns the current version of a post, if it is the expected one.
    func current(
        _ id: Post.ID,
        ifCurrent isExpected: @Sendable (Post) -> Bool
    ) async throws(ChangePostError) -> Post {
        let post: Post
        do throws(RepositoryError) {
            post = try await self.post(id, .upstreamFirst).value
        } catch {
            throw ChangePostError(error, of: id)
        }
        guard isExpected(post) else { throw .changedElsewhere(post) }
        return post
    }

    /// Returns the error of a change that failed, with the version of the source if it has another one.
    func changeError(_ error: RepositoryError, of id: Post.ID) async -> ChangePostError {
        guard error.reason == .conflict else { return ChangePostError(error, of: id) }
        return .changedElsewhere(try? await post(id, .upstreamFirst).value)
    }
}

extension Post {
    /// Returns the post as a draft with another title or body.
    fileprivate func draft(title: String?, body: String?) throws(PostDraftError) -> PostDraft {
        try PostDraft(authorID: authorID, title: title ?? self.title, body: body ?? self.body)
    }
}
