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
