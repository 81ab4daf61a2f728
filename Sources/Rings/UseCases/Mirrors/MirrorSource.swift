public import Entities
public import InwardTransfers

/// The port through which the originals of a mirror are read.
public protocol MirrorSource: Sendable {
    /// What loads an item. That there is no such item shows when it is loaded.
    func loader(of item: MirroredItem) -> any DataLoader
}

/// Something of an upstream that a mirror has a copy of.
public enum MirroredItem: Hashable, Sendable {
    /// The list of users.
    case users
    /// The list of posts.
    case posts
    /// The image of a user.
    case avatar(User.ID)
}
