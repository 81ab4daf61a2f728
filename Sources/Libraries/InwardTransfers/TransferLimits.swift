/// The limits at which a transfer gives up a source that may never end.
///
/// A source that a stranger controls can send one byte at a time for ever, or more than a disk holds. A transfer that passes one
/// of these limits ends with ``TransferDataError/limitExceeded(_:)``, and keeps nothing of what it saved.
///
///     let limits = TransferLimits(maximumByteCount: 256 * 1_024 * 1_024)
///     try await TransferData(from: loader, to: saver, limits: limits)()
public struct TransferLimits: Hashable, Sendable {
    /// The number of pieces that may be smaller than ``minimumPieceByteCount``.
    static let smallPieceCount = 1_000

    /// The most bytes that are loaded, and the most that are saved.
    public var maximumByteCount: Int
    /// The average size that the pieces of a transfer need after the first 1,000, so that their number is bounded.
    public var minimumPieceByteCount: Int
    /// The name of the property that sets ``maximumByteCount``, for error messages.
    public var maximumByteCountName = "TransferLimits.maximumByteCount"

    /// Makes limits.
    ///
    /// - Parameters:
    ///   - maximumByteCount: The most bytes that are loaded, and the most that are saved; 16 GiB by default.
    ///   - minimumPieceByteCount: The average size that pieces need after the first 1,000; 1 KiB by default.
    public init(maximumByteCount: Int = 16 * 1_024 * 1_024 * 1_024, minimumPieceByteCount: Int = 1_024) {
        self.maximumByteCount = max(0, maximumByteCount)
        self.minimumPieceByteCount = max(1, minimumPieceByteCount)
    }

    /// Returns why a number of bytes is too large, as the end of a sentence; `nil` if it is not.
    func problem(withByteCount count: Int) -> String? {
        guard count > maximumByteCount else { return nil }
        return """
            has more than \(maximumByteCount) bytes, the most that \(maximumByteCountName) allows. Raise that limit if the \
            source is right
            """
    }
}

/// Counts the pieces of a source, and finds the one with which it passes a limit or contradicts itself.
package struct PieceCounter {
    /// Why a piece is not taken.
    package enum Problem: Error {
        /// It passes a limit. The reason is the end of a sentence.
        case limit(String)
        /// It contradicts an earlier piece. The reason is the end of a sentence.
        case contradiction(String)

        /// The reason, as the end of a sentence.
        package var reason: String {
            switch self {
            case .limit(let reason), .contradiction(let reason): reason
            }
        }
    }

    private let limits: TransferLimits
    private var pieceCount = 0
    private var byteCount = 0
    /// The size of the version that is being loaded, once a piece has named it.
    private var totalByteCount: Int?

    package init(_ limits: TransferLimits) {
        self.limits = limits
    }

    /// Begins another version of the source. The pieces of the earlier ones still count.
    mutating func beginVersion() { totalByteCount = nil }

    /// Counts a piece.
    ///
    /// - Parameters:
    ///   - loaded: The piece.
    ///   - offset: How many bytes are done already. Only what the piece adds to them counts.
    /// - Throws: a ``Problem`` if the piece is not to be taken.
    package mutating func add(_ loaded: LoadedPiece, after offset: Int) throws(Problem) {
        let piece = loaded.piece
        let (end, isTooLarge) = piece.offset.addingReportingOverflow(piece.bytes.count)
        if let problem = limits.problem(withByteCount: isTooLarge ? .max : max(end, loaded.totalByteCount ?? 0)) {
            throw .limit(problem)
        }
        if let total = loaded.totalByteCount {
            if let earlier = totalByteCount, earlier != total {
                throw .contradiction("said that it has \(earlier) bytes, and then that it has \(total)")
            }
            totalByteCount = total
        }
        if let totalByteCount, end > totalByteCount {
            throw .contradiction("gave byte \(end) of \(totalByteCount)")
        }
        pieceCount += 1
        byteCount += max(0, end - offset)
        guard pieceCount > TransferLimits.smallPieceCount + byteCount / limits.minimumPieceByteCount else { return }
        throw .limit(
            """
            gave \(byteCount) bytes in \(pieceCount) pieces, which are smaller on average than \
            TransferLimits.minimumPieceByteCount (\(limits.minimumPieceByteCount)) allows. Lower that limit, or load larger pieces
            """
        )
    }
}
