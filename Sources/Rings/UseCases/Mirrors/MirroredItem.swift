public import Entities

/// Something of an upstream that a mirror has a copy of.
public enum MirroredItem: Hashable, Sendable {
    /// The list of users.
    case users
    /// The list of posts.
    case posts
    /// The picture of a user.
    case avatar(User.ID)
}
