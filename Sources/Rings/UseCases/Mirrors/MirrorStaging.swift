public import InwardTransfers

/// A mirror that is being made. Nobody sees it before it is published, and what is left of it serves the next run.
public protocol MirrorStaging: Sendable {
    /// The whole copy of an item that is here, put here by an earlier run or taken over from the mirror there is; `nil` if there is
    /// none. Its bytes have been read, and are what they were.
    ///
    /// - Throws: a ``MirrorStoreError`` if that cannot be found out.
    func copy(of item: MirroredItem) async throws(MirrorStoreError) -> MirroredCopy?

    /// What saves an item here.
    func saver(of item: MirroredItem) -> any DataSaver

    /// Remembers that an item is here, whole.
    ///
    /// - Throws: a ``MirrorStoreError`` if that cannot be kept.
    func keep(_ copy: MirroredCopy, of item: MirroredItem) async throws(MirrorStoreError)

    /// Removes what is here of other items.
    ///
    /// - Throws: a ``MirrorStoreError`` if that is not possible.
    func keepOnly(_ items: [MirroredItem]) async throws(MirrorStoreError)

    /// The users, as the mirror will give them.
    var users: any UserRepository { get }

    /// The posts, as the mirror will give them.
    var posts: any PostRepository { get }

    /// Puts the mirror where everybody sees it, with these items and no others, all at once.
    ///
    /// - Throws: a ``MirrorStoreError`` if the mirror is what it was before.
    func publish(_ items: [MirroredItem]) async throws(MirrorStoreError)
}
