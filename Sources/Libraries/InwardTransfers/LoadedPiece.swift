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
