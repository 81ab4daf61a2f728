public import InwardTransfers

/// The port through which the originals of a mirror are read.
public protocol MirrorSource: Sendable {
    /// What loads an item. That there is no such item shows when it is loaded.
    func loader(of item: MirroredItem) -> any DataLoader
}
