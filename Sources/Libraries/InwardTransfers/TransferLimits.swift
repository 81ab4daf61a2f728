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
