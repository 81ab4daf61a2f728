/// The port through which data leaves the program to be kept elsewhere: by a collector of reports, in a file, in a store.
///
/// Who has little and has it whole saves it at once. Who has it in pieces writes a ``DataDraft``, which nobody sees before it is
/// whole. A saver that knows only the first need not implement the other: it is given the pieces put together, within a limit.
///
/// Whoever implements it ends a wait with an error when the task that saves is cancelled. Check an implementation with
/// `DataSaverConformance` of the product `InwardTesting`.
public protocol DataSaver: Sendable {
    /// Saves data, all of it or nothing that anybody will see.
    ///
    /// - Throws: a ``DataSaverError`` if it is not known to be saved.
    func save(_ data: [UInt8]) async throws(DataSaverError)

    /// Opens a draft to write pieces into, with what an earlier one left of itself.
    ///
    /// - Throws: a ``DataSaverError`` if nothing can be written here, or somebody else is writing.
    func openDraft() async throws(DataSaverError) -> any DataDraft
}

extension DataSaver {
    /// A draft that holds all pieces in memory, at most 8 MiB, and saves them at once. It leaves nothing behind when it is given up.
    public func openDraft() async throws(DataSaverError) -> any DataDraft {
        gatheredDraft()
    }

    /// Makes a draft that holds all pieces in memory and saves them at once.
    ///
    /// Return it from ``openDraft()`` of a saver that takes data only as a whole, with a limit that suits it.
    ///
    /// - Parameter byteLimit: The most bytes that the draft holds.
    /// - Returns: the draft.
    public func gatheredDraft(byteLimit: Int = 8 * 1_024 * 1_024) -> any DataDraft {
        GatheredDraft(for: self, byteLimit: max(0, byteLimit))
    }
}

/// Why data could not be saved.
public struct DataSaverError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Where the data was to go, as whoever was to save it would write it, such as `POST http://127.0.0.1:8787/errors`. Free
    /// of credentials.
    public let destination: String
    /// What happened then, as the end of a sentence that begins with the destination: `was answered with 503`.
    public let explanation: String

    /// Makes an error that says where the data was to go, and what happened.
    public init(destination: String, explanation: String) {
        self.destination = destination
        self.explanation = explanation
    }

    /// The destination and what happened, as one sentence without its full stop.
    public var description: String { "\(destination) \(explanation)" }
}

/// Data that is being saved piece by piece, and that nobody sees before it is whole. It belongs to one task.
///
/// What is seen in its place until then is what was there before.
public protocol DataDraft {
    /// What an earlier draft of the same saver left, as far as it is found again just as it was written; `nil` if that is nothing.
    ///
    /// The draft goes on behind it, unless it is begun.
    var saved: SavedPart? { get }

    /// Begins with nothing, and forgets what there was.
    ///
    /// - Throws: a ``DataSaverError`` if that is not possible.
    mutating func begin() async throws(DataSaverError)

    /// Adds the bytes that come next.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, which may be none.
    ///   - part: What the draft is with them. It is what a later draft will find, if this one ends here; what can be found
    ///     again may be less.
    /// - Throws: a ``DataSaverError`` if they cannot be written.
    mutating func append(_ bytes: [UInt8], reaching part: SavedPart) async throws(DataSaverError)

    /// Reads back what was written, compares it, and puts it where everybody sees it.
    ///
    /// - Parameter checksum: The checksum of all that was written.
    /// - Throws: a ``DataSaverError`` if it is not known to be there. What was written is then of no use, if it was not the same.
    mutating func publish(_ checksum: Checksum) async throws(DataSaverError)

    /// Ends the draft without publishing it, and leaves what a later one can go on from. It works in a cancelled task too, as far
    /// as that can be.
    mutating func leave() async
}

/// A draft in memory, for a saver that saves at once.
struct GatheredDraft: DataDraft {
    private let saver: any DataSaver
    private let byteLimit: Int
    private var bytes: [UInt8] = []

    /// Makes a draft that holds so many bytes at the most.
    init(for saver: any DataSaver, byteLimit: Int) {
        self.saver = saver
        self.byteLimit = byteLimit
    }

    /// Nothing, for memory does not last.
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
                    has more than \(byteLimit) bytes, the most that this saver takes at once. Use a saver that takes data piece by \
                    piece, or return `gatheredDraft(byteLimit:)` with a higher limit from its `openDraft()`
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
