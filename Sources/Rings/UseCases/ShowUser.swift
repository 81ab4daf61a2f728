public import Entities
public import InwardCore

/// A use case that shows a user together with the user's posts.
///
/// ```swift
/// let showUser = ShowUser(users: users, posts: posts)
/// let profile = try await showUser(User.ID(7))
/// print(profile.user.value.name)
/// if case .success(let written) = profile.posts {
///     print("\(written.value.count) posts")
/// }
/// ```
public struct ShowUser: Sendable {
    private let users: any UserRepository
    private let posts: any PostRepository

    /// Creates the use case with the repositories of the users and the posts.
    public init(users: any UserRepository, posts: any PostRepository) {
        self.users = users
        self.posts = posts
    }

    /// Returns the user with the given identity and the user's posts, newest first. Both are requested concurrently.
    ///
    /// If only the posts are unavailable, the profile contains the error in their place.
    ///
    /// - Throws: A ``ShowUserError`` if the user cannot be read, or if the task is cancelled.
    public func callAsFunction(
        _ id: User.ID,
        _ policy: ReadPolicy = .cacheFirst
    ) async throws(ShowUserError) -> UserProfile {
        let written: Result<Reading<[Post]>, RepositoryError>
        let user: Reading<User>
        do throws(RepositoryError) {
            (written, user) = try await concurrently(
                { [posts] () async throws(RepositoryError) in try await posts.posts(by: id, policy) },
                { () async throws(RepositoryError) in try await users.user(id, policy) }
            )
        } catch {
            throw ShowUserError(error, id: id)
        }
        switch written {
        case .success(let posts):
            return UserProfile(user: user, posts: .success(posts.map { $0.sorted { $0.id > $1.id } }))
        case .failure(let error) where error.reason == .cancelled:
            throw .cancelled
        case .failure(let error):
            return UserProfile(user: user, posts: .failure(error))
        }
    }
}

/// A user with the user's posts.
///
/// ```swift
/// let profile = try await ShowUser(users: users, posts: posts)(User.ID(7))
/// switch profile.posts {
/// case .success(let written): print(profile.user.value.name, written.value.map(\.title))
/// case .failure(let error): print("The posts are not available: \(error)")
/// }
/// ```
public struct UserProfile: Equatable, Sendable {
    /// The user.
    public let user: Reading<User>
    /// The user's posts, newest first, or the error that occurred while reading them.
    public let posts: Result<Reading<[Post]>, RepositoryError>

    /// Creates a profile from a user and the user's posts, or the error that occurred while reading them.
    public init(user: Reading<User>, posts: Result<Reading<[Post]>, RepositoryError>) {
        self.user = user
        self.posts = posts
    }
}

/// An error that occurs while showing a user.
///
/// ```swift
/// do {
///     print(try await ShowUser(users: users, posts: posts)(User.ID(99)).user.value.name)
/// } catch .notFound(let id) {
///     print("User \(id) does not exist.")
/// } catch {
///     print("The user cannot be shown: \(error)")
/// }
/// ```
public enum ShowUserError: Error, Hashable, Sendable {
    /// The calling task was cancelled.
    case cancelled
    /// No user has this identity.
    case notFound(User.ID)
    /// The user is not available now. The cause says whether a retry can help.
    case unavailable(RepositoryError)
    /// The source denies this caller access to the user.
    case denied(RepositoryError)
    /// The answer is not a user, or the user is damaged.
    case unreadable(RepositoryError)

    init(_ error: RepositoryError, id: User.ID) {
        self =
            switch error.reason.code {
            case .cancelled: .cancelled
            case .notFound: .notFound(id)
            case .denied: .denied(error)
            case .unreadable: .unreadable(error)
            case .closed, .unavailable, .refused, .conflict, .outcomeUnknown: .unavailable(error)
            }
    }
}
