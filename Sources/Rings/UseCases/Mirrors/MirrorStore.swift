public import InwardTransfers

/// The port through which a mirror is stored.
///
/// ```swift
/// struct LoggingMirrorStore: MirrorStore {
///     let base: any MirrorStore
///
///     func openStaging() async throws(MirrorStoreError) -> any MirrorStaging {
///         print("Opening the mirror.")
///         return try await base.openStaging()
///     }
/// }
/// ```
public protocol MirrorStore: Sendable {
    /// Starts a new mirror next to the existing one, or resumes one that an earlier run left unfinished.
    ///
    /// - Throws: A ``MirrorStoreError`` if there is something else at the mirror's location, which is left untouched, or if
    ///   another run is creating the mirror.
    func openStaging() async throws(MirrorStoreError) -> any MirrorStaging
}

/// A mirror in progress. It is invisible until it is published, and an interrupted run leaves it for the next one.
///
/// ```swift
/// func publish(_ copies: [MirroredItem: MirroredCopy], in staging: any MirrorStaging) async throws(MirrorStoreError) {
///     for (item, copy) in copies { try await staging.keep(copy, of: item) }
///     try await staging.publish(Array(copies.keys))
/// }
/// ```
public protocol MirrorStaging: Sendable {
    /// Returns the complete copy of an item, left by an earlier run or reused from the existing mirror; `nil` if there is none.
    /// Implementations verify the bytes of the copy before they return it.
    ///
    /// - Throws: A ``MirrorStoreError`` if the copy cannot be looked up.
    func copy(of item: MirroredItem) async throws(MirrorStoreError) -> MirroredCopy?

    /// Returns a saver that writes an item into this mirror.
    func saver(of item: MirroredItem) -> any DataSaver

    /// Records that an item is completely saved.
    ///
    /// - Throws: A ``MirrorStoreError`` if the record cannot be stored.
    func keep(_ copy: MirroredCopy, of item: MirroredItem) async throws(MirrorStoreError)

    /// Removes all items except the given ones.
    ///
    /// - Throws: A ``MirrorStoreError`` if an item cannot be removed.
    func keepOnly(_ items: [MirroredItem]) async throws(MirrorStoreError)

    /// The users, read from this mirror.
    var users: any UserRepository { get }

    /// The posts, read from this mirror.
    var posts: any PostRepository { get }

    /// Replaces the visible mirror atomically with exactly these items.
    ///
    /// - Throws: A ``MirrorStoreError`` if the visible mirror stays as it was.
    func publish(_ items: [MirroredItem]) async throws(MirrorStoreError)

    /// Ends the run, whether it has published or not. As soon as this returns, the store can open its staging again.
    func leave() async
}

/// A record of a complete copy of an upstream item.
///
/// ```swift
/// import InwardTransfers
///
/// func copy(_ item: MirroredItem, from loader: any DataLoader, to staging: any MirrorStaging) async throws {
///     let report = try await TransferData(from: loader, to: staging.saver(of: item))()
///     let copy = MirroredCopy(
///         source: loader.source,
///         validator: report.validator,
///         byteCount: report.savedByteCount,
///         checksum: report.checksum
///     )
///     try await staging.keep(copy, of: item)
/// }
/// ```
public struct MirroredCopy: Hashable, Codable, Sendable {
    /// The name of the source; `nil` if it has no name that is stable across runs.
    public let source: String?
    /// The validator that identifies the version of the source; `nil` if there is none.
    public let validator: String?
    /// The size in bytes.
    public let byteCount: Int
    /// The `Checksum` of the bytes.
    public let checksum: UInt64

    /// Creates a record of a copy.
    public init(source: String?, validator: String?, byteCount: Int, checksum: UInt64) {
        self.source = source
        self.validator = validator
        self.byteCount = byteCount
        self.checksum = checksum
    }
}

/// An error that occurs while storing a mirror.
///
/// ```swift
/// func mirror(_ createMirror: CreateMirror) async throws {
///     do {
///         _ = try await createMirror()
///     } catch .unkept(let error) {
///         print(error)  // “/srv/mirror” is not a directory. Choose another path, or move it away.
///     }
/// }
/// ```
public struct MirrorStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The location of the mirror as error messages show it, such as a quoted path.
    public let place: String
    /// The problem and its remedy, as the rest of a sentence that begins with the location, such as `is not a directory.`
    public let explanation: String

    /// Creates an error from the location of the mirror and an explanation.
    public init(place: String, explanation: String) {
        self.place = place
        self.explanation = explanation
    }

    /// The location, followed by the explanation.
    public var description: String { "\(place) \(explanation)" }
}
