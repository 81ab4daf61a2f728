public import InwardTransfers

/// The port through which a mirror is kept.
public protocol MirrorStore: Sendable {
    /// Begins a new mirror beside the one there is, or goes on with one that an earlier run left.
    ///
    /// - Throws: a ``MirrorStoreError`` if that is not possible: because something else is kept in the place of the mirror, which is
    ///   left as it is, or somebody else is making one.
    func openStaging() async throws(MirrorStoreError) -> any MirrorStaging
}

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

/// A whole copy of something of an upstream, as a mirror remembers it.
public struct MirroredCopy: Hashable, Codable, Sendable {
    /// What the source is called; `nil` if it has no name that is the same in each run.
    public let source: String?
    /// What tells the version of the source; `nil` if nothing does.
    public let validator: String?
    /// How many bytes it has.
    public let byteCount: Int
    /// The value of the `Checksum` of the bytes.
    public let checksum: UInt64

    /// Makes a copy.
    public init(source: String?, validator: String?, byteCount: Int, checksum: UInt64) {
        self.source = source
        self.validator = validator
        self.byteCount = byteCount
        self.checksum = checksum
    }
}

/// Why a mirror cannot be kept.
public struct MirrorStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Where the mirror was to be, as whoever keeps it would write it.
    public let place: String
    /// What is wrong, and what can be done about it, as whole sentences of which the first begins with the place.
    public let explanation: String

    /// Makes an error that says where the mirror was to be, and what is wrong.
    public init(place: String, explanation: String) {
        self.place = place
        self.explanation = explanation
    }

    /// The place and what is wrong.
    public var description: String { "\(place) \(explanation)" }
}
