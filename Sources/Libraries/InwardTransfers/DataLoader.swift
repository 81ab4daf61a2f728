/// The port through which data comes in piece by piece, from a file or from the network. Who has it sees no way to write.
///
/// Whoever implements it holds no more than a piece at a time, and ends a wait with an error when the task that loads is
/// cancelled or its deadline passes. A loader is used from many tasks at once. Check an implementation with
/// `DataLoaderConformance` of the product `InwardTesting`.
public protocol DataLoader: Sendable {
    /// What the source is called, free of credentials and the same in each run, so that a transfer can be taken up by another run;
    /// `nil` if it has no such name.
    var source: String? { get }

    /// A piece of the data from an offset on.
    ///
    /// It may begin earlier than it was asked for, and it may be of another version than it was asked for: then it begins wherever
    /// the loader likes, best with the first byte. All bytes of a piece are of the version that it names. What has no
    /// validator comes in one piece that is the first and the last, because nothing could tell that two belong together. Only the
    /// last piece of a version may be without a byte.
    ///
    /// - Parameters:
    ///   - offset: How many bytes come before it. At the end of the data, the piece is the last and has no byte.
    ///   - validator: What the earlier pieces named; `nil` for any version.
    /// - Returns: the piece, with the version that it is of.
    /// - Throws: a ``DataLoaderError`` if there is none.
    func piece(at offset: Int, of validator: String?) async throws(DataLoaderError) -> LoadedPiece

    /// Whether the source has no other version than the one with this validator.
    ///
    /// - Throws: a ``DataLoaderError`` if that is not known.
    func stillHas(_ validator: String) async throws(DataLoaderError) -> Bool
}

extension DataLoader {
    /// Whether the first piece names the version.
    public func stillHas(_ validator: String) async throws(DataLoaderError) -> Bool {
        try await piece(at: 0, of: validator).validator == validator
    }
}

/// A piece as a ``DataLoader`` gives it, and what it is a piece of.
public struct LoadedPiece: Hashable, Sendable {
    /// The piece.
    public let piece: DataPiece
    /// What tells this version of the data from others of the same source, as the source would write it; `nil` if nothing does.
    public let validator: String?
    /// How many bytes the data has altogether; `nil` if that is not known.
    public let totalByteCount: Int?

    /// Makes a piece of a version.
    public init(_ piece: DataPiece, validator: String?, totalByteCount: Int?) {
        self.piece = piece
        self.validator = validator
        self.totalByteCount = totalByteCount
    }
}

/// Why data could not be loaded.
public struct DataLoaderError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Where the data was to come from, as whoever was to load it would write it. Free of credentials.
    public let source: String
    /// What happened then, as the end of a sentence that begins with the source: `was answered with 503`.
    public let explanation: String
    /// Whether it says that there is no such data, and asking again will not help.
    public let meansAbsence: Bool

    /// Makes an error that says where the data was to come from, and what happened.
    public init(source: String, explanation: String, meansAbsence: Bool = false) {
        self.source = source
        self.explanation = explanation
        self.meansAbsence = meansAbsence
    }

    /// The source and what happened, as one sentence without its full stop.
    public var description: String { "\(source) \(explanation)" }
}

extension DataLoader {
    /// Reads all the data.
    ///
    /// - Parameter limits: When a source is given up that may never end.
    /// - Returns: the checksum of the data, and how many bytes it has; `nil` if it became another while it was being read.
    /// - Throws: a ``DataLoaderError`` if it cannot be read, or passes one of the limits.
    package func checksum(
        limits: TransferLimits = TransferLimits()
    ) async throws(DataLoaderError) -> (value: UInt64, byteCount: Int)? {
        var checksum = Checksum()
        var counter = PieceCounter(limits)
        var offset = 0
        var validator: String?
        while true {
            let loaded = try await piece(at: offset, of: validator)
            guard offset == 0 || loaded.validator == validator, loaded.piece.offset <= offset,
                loaded.piece.end > offset || loaded.piece.isLast
            else { return nil }
            do {
                try counter.add(loaded, after: offset)
            } catch {
                throw DataLoaderError(source: source ?? "The source", explanation: error.reason)
            }
            let piece = loaded.piece.dropping(before: offset)
            checksum.update(with: piece.bytes.span)
            offset = piece.end
            if piece.isLast { return (checksum.value, offset) }
            validator = loaded.validator
        }
    }
}
