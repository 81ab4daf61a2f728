public import Entities
public import InwardTransfers

/// The port through which a mirror reads the originals.
///
/// ```swift
/// import InwardTesting
/// import InwardTransfers
///
/// struct EmptySource: MirrorSource {
///     func loader(of item: MirroredItem) -> any DataLoader {
///         InMemoryDataLoader(Array("[]".utf8), source: "\(item)")
///     }
/// }
/// ```
public protocol MirrorSource: Sendable {
    /// Returns a loader for an item. If the item does not exist, the loader reports that when it loads.
    func loader(of item: MirroredItem) -> any DataLoader
}

/// An item of an upstream that a mirror copies.
///
/// ```swift
/// func path(of item: MirroredItem) -> String {
///     switch item {
///     case .users: "users"
///     case .posts: "posts"
///     case .avatar(let id): "avatars/\(id)"
///     }
/// }
/// ```
public enum MirroredItem: Hashable, Sendable {
    /// The list of users.
    case users
    /// The list of posts.
    case posts
    /// The image of a user.
    case avatar(User.ID)
}
