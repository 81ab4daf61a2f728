public import Entities
public import InwardCore

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
