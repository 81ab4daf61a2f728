/// A port that saves data outside the program, such as a report collector, a file, or a store.
///
/// Save small data in one call. Write large data chunk by chunk to a ``DataDraft``, which becomes visible only when it
/// is complete. A saver that implements only `save(_:)` gets a default draft, which collects the chunks in memory up to
/// a limit.
///
/// Implementations throw when the saving task is cancelled. Test an implementation with `DataSaverConformance` from
/// `InwardTesting`.
public protocol DataSaver: Sendable {
    /// Saves data atomically.
    ///
    /// - Throws: A ``DataSaverError`` if the data may not have been saved.
    func save(_ data: [UInt8]) async throws(DataSaverError)

    /// Opens a draft that continues what an earlier draft left.
    ///
    /// - Throws: A ``DataSaverError`` if the destination is not writable, or if another writer has it open.
    func openDraft() async throws(DataSaverError) -> any DataDraft
}

extension DataSaver {
    /// Returns a draft that collects up to 8 MiB in memory and saves them in one call. A discarded draft leaves nothing
    /// for a later one.
    public func openDraft() async throws(DataSaverError) -> any DataDraft {
        gatheredDraft()
    }

    /// Creates a draft that collects all chunks in memory and saves them in one call.
    ///
    /// Return it from ``openDraft()`` to set a limit for a saver that accepts data only as a whole.
    ///
    /// - Parameter byteLimit: The maximum number of bytes in the draft.
    /// - Returns: The draft.
    public func gatheredDraft(byteLimit: Int = 8 * 1_024 * 1_024) -> any DataDraft {
        GatheredDraft(for: self, byteLimit: max(0, byteLimit))
    }
}

/// An error thrown when data could not be saved.
public struct DataSaverError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The destination in the saver's notation, such as `POST http://127.0.0.1:8787/errors`. It contains no
    /// credentials.
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

/// Data that is saved chunk by chunk and becomes visible only when it is complete. A draft belongs to one task.
///
/// Until it is published, readers see the previous data.
public protocol DataDraft {
    /// What an earlier draft of the same saver left, as far as it is verifiably intact, or `nil` if there is nothing.
    ///
    /// The draft continues after this part unless `begin()` is called.
    var saved: SavedPart? { get }

    /// Starts over with an empty draft and discards what was saved.
    ///
    /// - Throws: A ``DataSaverError`` if the draft cannot be reset.
    mutating func begin() async throws(DataSaverError)

    /// Appends bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, possibly none.
    ///   - part: The state of the draft including these bytes. If this draft ends here, a later draft finds this part,
    ///     or an earlier one if not everything can be recovered.
    /// - Throws: A ``DataSaverError`` if the bytes cannot be written.
    mutating func append(_ bytes: [UInt8], reaching part: SavedPart) async throws(DataSaverError)

    /// Reads back what was written, verifies it, and makes it visible.
    ///
    /// - Parameter checksum: The checksum of everything that was written.
    /// - Throws: A ``DataSaverError`` if the data may not have been published. Data that fails verification cannot be
    ///   used.
    mutating func publish(_ checksum: Checksum) async throws(DataSaverError)

    /// Closes the draft without publishing it, and leaves what a later draft can resume from. It also works in a
    /// cancelled task, as far as possible.
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

    mutating func begin() {
        bytes = []
    }

    mutating func append(_ bytes: [UInt8], reaching part: SavedPart) throws(DataSaverError) {
        guard !Task.isCancelled else {
            throw DataSaverError(destination: "Saving the data", explanation: "was cancelled")
        }
        guard bytes.count <= byteLimit - self.bytes.count else {
            throw DataSaverError(
                destination: "The data",
                explanation: """
                    has more than \(byteLimit) bytes, the most that this saver takes at once. Use a saver that takes data chunk by \
                    chunk, or return `gatheredDraft(byteLimit:)` with a higher limit from its `openDraft()`
                    """
            )
        }
        self.bytes += bytes
    }

    mutating func publish(_ checksum: Checksum) async throws(DataSaverError) {
        guard Checksum(of: bytes.span) == checksum else {
            throw DataSaverError(destination: "The data", explanation: "is not what was to be saved")
        }
        try await saver.save(bytes)
    }

    mutating func leave() {
        bytes = []
    }
}
