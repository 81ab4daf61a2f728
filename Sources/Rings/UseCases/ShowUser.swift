public import Entities
public import InwardCore

/// Shows one user with what this user has written.
public struct ShowUser: Sendable {
    private let users: any UserRepository
    private let posts: any PostRepository

    /// Makes the use case over the repositories that have the users and the posts.
    public init(users: any UserRepository, posts: any PostRepository) {
        self.users = users
        self.posts = posts
    }

    /// The user of this identity and the user's posts, the newest first. Both are asked for at the same time.
    ///
    /// If the user is found and the posts are not to be had, the profile comes without them and says why.
    ///
    /// - Throws: a ``ShowUserError`` if there is no user to show.
    public func callAsFunction(
        _ id: User.ID,
        _ policy: ReadPolicy = .cacheFirst
    ) async throws(ShowUserError) -> UserProfile {
        async let written = Result(awaiting: { () async throws(RepositoryError) in
            try await posts.posts(by: id, policy)
        })
        let user: Reading<User>
        do {
            user = try await users.user(id, policy)
        } catch {
            throw ShowUserError(error, id: id)
        }
        switch await written {
        case .success(let posts):
            return UserProfile(user: user, posts: .success(posts.map { $0.sorted { $0.id > $1.id } }))
        case .failure(let error) where error.reason == .cancelled:
            throw .cancelled
        case .failure(let error):
            return UserProfile(user: user, posts: .failure(error))
        }
    }
}

/// One user with what this user has written.
public struct UserProfile: Equatable, Sendable {
    /// The user.
    public let user: Reading<User>
    /// The user's posts, the newest first, or why they could not be had.
    public let posts: Result<Reading<[Post]>, RepositoryError>

    /// Makes a profile of a user and the posts, or of the reason that there are none to show.
    public init(user: Reading<User>, posts: Result<Reading<[Post]>, RepositoryError>) {
        self.user = user
        self.posts = posts
    }
}

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
