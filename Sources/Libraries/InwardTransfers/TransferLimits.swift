/// The limits at which a transfer gives up a source that might never end.
///
/// An untrusted source can send one byte at a time forever, or more than a disk holds. A transfer that exceeds a limit
/// fails with ``TransferDataError/limitExceeded(_:)`` and discards what it has saved.
///
///     let limits = TransferLimits(maximumByteCount: 256 * 1_024 * 1_024)
///     try await TransferData(from: loader, to: saver, limits: limits)()
public struct TransferLimits: Hashable, Sendable {
    /// The number of pieces that may be smaller than ``minimumPieceByteCount``.
    static let smallPieceCount = 1_000

    /// The maximum number of bytes to load, and also the maximum number to save.
    public var maximumByteCount: Int
    /// The minimum average size of the pieces after the first 1,000. It bounds the number of pieces.
    public var minimumPieceByteCount: Int
    /// The name of the property that sets ``maximumByteCount``, for error messages.
    public var maximumByteCountName = "TransferLimits.maximumByteCount"

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - maximumByteCount: The maximum number of bytes to load, and also the maximum number to save. The default is
    ///     16 GiB.
    ///   - minimumPieceByteCount: The minimum average size of the pieces after the first 1,000. The default is 1 KiB.
    public init(maximumByteCount: Int = 16 * 1_024 * 1_024 * 1_024, minimumPieceByteCount: Int = 1_024) {
        self.maximumByteCount = max(0, maximumByteCount)
        self.minimumPieceByteCount = max(1, minimumPieceByteCount)
    }

    /// Returns why a number of bytes is too large, as the end of a sentence, or `nil` if it is allowed.
    func problem(withByteCount count: Int) -> String? {
        guard count > maximumByteCount else { return nil }
        return """
            has more than \(maximumByteCount) bytes, the most that \(maximumByteCountName) allows. Raise that limit if the \
            source is right
            """
    }
}

/// Counts the pieces of a source, and detects a piece that exceeds a limit or contradicts an earlier piece.
package struct PieceCounter {
    /// Why a piece is rejected.
    package enum Problem: Error {
        /// The piece exceeds a limit. The reason is the end of a sentence.
        case limit(String)
        /// The piece contradicts an earlier one. The reason is the end of a sentence.
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
    /// The size of the version being loaded, or `nil` until a piece states it.
    private var totalByteCount: Int?

    package init(_ limits: TransferLimits) {
        self.limits = limits
    }

    /// Starts another version of the source. Pieces of earlier versions still count toward the limits.
    mutating func beginVersion() { totalByteCount = nil }

    /// Counts a piece.
    ///
    /// - Parameters:
    ///   - loaded: The piece.
    ///   - offset: The number of bytes that are already transferred. Only the bytes after it count.
    /// - Throws: A ``Problem`` if the piece must be rejected.
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
