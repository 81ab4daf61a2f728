/// A destination for data outside the program, such as a file, a store, or a report collector.
///
/// ```swift
/// try await saver.save(Array("Well said.".utf8))
/// ```
///
/// Save small data in one call. Write large data chunk by chunk to a ``DataDraft``, which becomes visible only when it is
/// complete. A saver that implements only `save(_:)` gets a default draft, which collects up to 8 MiB in memory.
///
/// Implementations throw when the task is cancelled. See <doc:ImplementALoaderOrSaver>, and test an implementation with
/// `DataSaverConformance` of `InwardTesting`.
public protocol DataSaver: Sendable {
    /// Saves data atomically.
    ///
    /// - Throws: A ``DataSaverError`` if it is not certain that the data was saved.
    func save(_ data: [UInt8]) async throws(DataSaverError)

    /// Opens a draft that continues where an earlier draft stopped.
    ///
    /// - Throws: A ``DataSaverError`` if the destination is not writable, or if another writer has it open.
    func openDraft() async throws(DataSaverError) -> any DataDraft
}

extension DataSaver {
    /// Returns a draft that collects up to 8 MiB in memory and saves them in one call. A later draft cannot resume from it.
    public func openDraft() async throws(DataSaverError) -> any DataDraft { gatheredDraft() }

    /// Creates a draft that collects all chunks in memory and saves them in one call.
    ///
    /// If your saver accepts data only as a whole, return this draft from ``openDraft()`` to choose its limit.
    ///
    /// - Parameter byteLimit: The maximum number of bytes in the draft.
    /// - Returns: The draft.
    public func gatheredDraft(byteLimit: Int = 8 * 1_024 * 1_024) -> any DataDraft {
        GatheredDraft(for: self, byteLimit: max(0, byteLimit))
    }
}

/// An error thrown when data could not be saved.
///
/// ```swift
/// do throws(DataSaverError) {
///     try await saver.save(Array("Well said.".utf8))
/// } catch {
///     print("\(error). Save it again.")
/// }
/// ```
public struct DataSaverError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the destination in messages, such as `POST http://127.0.0.1:8787/errors`, without credentials.
    public let destination: String
    /// What happened, as the end of a sentence that begins with the destination, such as `was answered with 503`.
    public let explanation: String

    /// Creates an error from the destination and what happened.
    public init(destination: String, explanation: String) {
        self.destination = destination
        self.explanation = explanation
    }

    /// One sentence, without a final period, that names the destination and what happened.
    public var description: String { "\(destination) \(explanation)" }
}

/// Data that is saved chunk by chunk and becomes visible only when it is complete.
///
/// ```swift
/// var draft = try await saver.openDraft()
/// try await draft.begin()
/// let bytes = Array("Well said.".utf8)
/// try await draft.append(bytes, reaching: SavedPart(source: nil, validator: nil, steps: nil))
/// try await draft.publish(Checksum(of: bytes.span))
/// ```
///
/// Readers see the previous data until the draft is published. Use a draft in one task only.
public protocol DataDraft {
    /// The part that an earlier draft of the same saver left, or `nil` if there is none. The part is verified to be intact.
    ///
    /// The draft continues after this part, unless you call `begin()`.
    var saved: SavedPart? { get }

    /// Starts over with an empty draft, and discards the part that an earlier draft left.
    ///
    /// - Throws: A ``DataSaverError`` if the draft cannot be reset.
    mutating func begin() async throws(DataSaverError)

    /// Appends bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, possibly none.
    ///   - part: The state of the draft after these bytes. A later draft continues after the last part, or after an earlier
    ///     one if the last bytes cannot be recovered.
    /// - Throws: A ``DataSaverError`` if the bytes cannot be written.
    mutating func append(_ bytes: [UInt8], reaching part: SavedPart) async throws(DataSaverError)

    /// Reads back what was written, verifies it, and makes it visible.
    ///
    /// - Parameter checksum: The checksum of everything that was written.
    /// - Throws: A ``DataSaverError`` if it is not certain that the data was published. If verification fails, the data is not
    ///   published, and no later draft can resume from it.
    mutating func publish(_ checksum: Checksum) async throws(DataSaverError)

    /// Closes the draft without publishing it, and keeps what a later draft can resume from. As far as possible, this also works
    /// in a cancelled task.
    mutating func leave() async
}

/// An in-memory draft for a saver that accepts data only as a whole.
struct GatheredDraft: DataDraft {
    private let saver: any DataSaver
    private let byteLimit: Int
    private var bytes: [UInt8] = []

    /// Creates a draft with a maximum number of bytes.
    init(for saver: any DataSaver, byteLimit: Int) {
        self.saver = saver
        self.byteLimit = byteLimit
    }

    /// Always `nil`, because memory does not persist.
    var saved: SavedPart? { nil }

    mutating func begin() { bytes = [] }

    mutating func append(_ bytes: [UInt8], reaching part: SavedPart) throws(DataSaverError) {
        guard !Task.isCancelled else {
            throw DataSaverError(destination: "Saving the data", explanation: "was cancelled")
        }
        guard bytes.count <= byteLimit - self.bytes.count else {
            throw DataSaverError(
                destination: "The data",
                explanation: """
                    has more than \(byteLimit) bytes, the limit of this saver, which accepts data only as a whole. Use a saver \
                    that accepts chunks, or return `gatheredDraft(byteLimit:)` with a higher limit from its `openDraft()`
                    """
            )
        }
        self.bytes += bytes
    }

    mutating func publish(_ checksum: Checksum) async throws(DataSaverError) {
        guard Checksum(of: bytes.span) == checksum else {
            throw DataSaverError(destination: "The data", explanation: "was not saved: it does not match its checksum")
        }
        try await saver.save(bytes)
    }

    mutating func leave() { bytes = [] }
}
