/// A source of data, such as a file or a server, that is loaded chunk by chunk.
///
/// ```swift
/// let first = try await loader.chunk(at: 0, of: nil)
/// let next = try await loader.chunk(at: first.chunk.bytes.count, of: first.validator)
/// print(next.chunk.bytes.count, next.chunk.isLast)
/// ```
///
/// Implementations hold at most one chunk at a time, support concurrent calls, and throw when the task is cancelled or its
/// deadline passes. See <doc:ImplementALoaderOrSaver>, and test an implementation with `DataLoaderConformance` of
/// `InwardTesting`.
public protocol DataLoader: Sendable {
    /// The name of the source, without credentials, or `nil` if it has no stable name. The name must be the same in
    /// each run, so that another run can resume a transfer.
    var source: String? { get }

    /// Returns a chunk of the data, starting at an offset.
    ///
    /// The chunk may start before the offset. If the requested version no longer exists, return any chunk of the current
    /// version, preferably the first. All bytes of a chunk belong to the version that its validator identifies.
    ///
    /// Data without a validator must come in a single chunk, because nothing else shows that two chunks belong to the same
    /// version. Only the last chunk may be empty.
    ///
    /// - Parameters:
    ///   - offset: The number of bytes before the chunk. If this is the size of the data, return an empty last chunk.
    ///   - validator: The validator of the earlier chunks, or `nil` for any version.
    /// - Returns: The chunk and the version that it belongs to.
    /// - Throws: A ``DataLoaderError`` if the chunk cannot be loaded.
    func chunk(at offset: Int, of validator: String?) async throws(DataLoaderError) -> LoadedChunk

    /// Returns whether the version with this validator is still the source's current version.
    ///
    /// - Throws: A ``DataLoaderError`` if that cannot be determined.
    func stillHas(_ validator: String) async throws(DataLoaderError) -> Bool
}

extension DataLoader {
    /// Loads the first chunk, and returns whether it has this validator.
    public func stillHas(_ validator: String) async throws(DataLoaderError) -> Bool {
        try await chunk(at: 0, of: validator).validator == validator
    }
}

/// A chunk from a ``DataLoader``, together with its version.
///
/// ```swift
/// let chunk = DataChunk(Array("Well ".utf8), at: 0, isLast: false)
/// let loaded = LoadedChunk(chunk, validator: #""v1""#, totalByteCount: 10)
/// ```
public struct LoadedChunk: Hashable, Sendable {
    /// The chunk.
    public let chunk: DataChunk
    /// A text that identifies this version of the data, such as an entity tag, or `nil` if the source has none.
    public let validator: String?
    /// The total number of bytes, or `nil` if it is unknown.
    public let totalByteCount: Int?

    /// Creates a chunk of a version.
    public init(_ chunk: DataChunk, validator: String?, totalByteCount: Int?) {
        self.chunk = chunk
        self.validator = validator
        self.totalByteCount = totalByteCount
    }
}

/// An error thrown when data could not be loaded.
///
/// ```swift
/// do throws(TransferDataError) {
///     try await transfer()
/// } catch .unreadable(let cause) where cause.meansAbsence {
///     print("\(cause.source) does not exist.")
/// } catch {
///     print("\(error).")
/// }
/// ```
public struct DataLoaderError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the source in messages, without credentials.
    public let source: String
    /// What happened, as the end of a sentence that begins with the source, such as `was answered with 503`.
    public let explanation: String
    /// Whether the data does not exist, so that a retry cannot succeed.
    public let meansAbsence: Bool

    /// Creates an error from the source and what happened.
    public init(source: String, explanation: String, meansAbsence: Bool = false) {
        self.source = source
        self.explanation = explanation
        self.meansAbsence = meansAbsence
    }

    /// One sentence, without a final period, that names the source and what happened.
    public var description: String { "\(source) \(explanation)" }
}

extension DataLoader {
    /// Computes the checksum of all the data.
    ///
    /// - Parameter limits: The limits at which reading stops with an error.
    /// - Returns: The checksum and the number of bytes, or `nil` if the data changed while it was read.
    /// - Throws: A ``DataLoaderError`` if the data cannot be read or exceeds a limit.
    package func checksum(
        limits: TransferLimits = TransferLimits()
    ) async throws(DataLoaderError) -> (value: UInt64, byteCount: Int)? {
        var checksum = Checksum()
        var counter = ChunkCounter(limits)
        var offset = 0
        var validator: String?
        while true {
            let loaded = try await chunk(at: offset, of: validator)
            guard offset == 0 || loaded.validator == validator, loaded.chunk.offset <= offset,
                loaded.chunk.end > offset || loaded.chunk.isLast
            else { return nil }
            do {
                try counter.add(loaded, after: offset)
            } catch {
                throw DataLoaderError(source: source ?? "The source", explanation: error.reason)
            }
            let chunk = loaded.chunk.dropping(before: offset)
            checksum.update(with: chunk.bytes.span)
            offset = chunk.end
            if chunk.isLast { return (checksum.value, offset) }
            validator = loaded.validator
        }
    }
}
