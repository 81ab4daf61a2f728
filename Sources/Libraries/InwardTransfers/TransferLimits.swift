/// The limits of a transfer, which stop a source that sends too much data or never ends.
///
/// ```swift
/// let limits = TransferLimits(maximumByteCount: 256 * 1_024 * 1_024)
/// try await TransferData(from: loader, to: saver, limits: limits)()
/// ```
///
/// An untrusted source can send one byte at a time forever, or more than a disk holds. A transfer that exceeds a limit fails
/// with ``TransferDataError/limitExceeded(_:)`` and discards what it has saved.
public struct TransferLimits: Hashable, Sendable {
    /// The number of chunks that may be smaller than ``minimumChunkByteCount``.
    static let smallChunkCount = 1_000

    /// The maximum number of bytes to load, and also the maximum number to save.
    public var maximumByteCount: Int
    /// The minimum average size of the chunks after the first 1,000. This limits the number of chunks.
    public var minimumChunkByteCount: Int
    /// The name of the setting that determines ``maximumByteCount``, for use in error messages.
    public var maximumByteCountName = "TransferLimits.maximumByteCount"

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - maximumByteCount: The maximum number of bytes to load, and also the maximum number to save. The default is
    ///     16 GiB.
    ///   - minimumChunkByteCount: The minimum average size of the chunks after the first 1,000. The default is 1 KiB.
    public init(maximumByteCount: Int = 16 * 1_024 * 1_024 * 1_024, minimumChunkByteCount: Int = 1_024) {
        self.maximumByteCount = max(0, maximumByteCount)
        self.minimumChunkByteCount = max(1, minimumChunkByteCount)
    }

    /// Returns why a number of bytes is too large, as the end of a sentence, or `nil` if it is allowed.
    func problem(withByteCount count: Int) -> String? {
        guard count > maximumByteCount else { return nil }
        return """
            exceeds the limit of \(maximumByteCount) bytes set by \(maximumByteCountName). Raise the limit if the source may \
            be larger
            """
    }
}

/// A counter of a source's chunks. It detects a chunk that exceeds a limit or contradicts an earlier chunk.
package struct ChunkCounter {
    /// Why a chunk is rejected.
    package enum Problem: Error {
        /// The chunk exceeds a limit. The reason is the end of a sentence.
        case limit(String)
        /// The chunk contradicts an earlier one. The reason is the end of a sentence.
        case contradiction(String)

        /// The reason, as the end of a sentence.
        package var reason: String {
            switch self {
            case .limit(let reason), .contradiction(let reason): reason
            }
        }
    }

    private let limits: TransferLimits
    private var chunkCount = 0
    private var byteCount = 0
    /// The size of the version being loaded, or `nil` until a chunk states it.
    private var totalByteCount: Int?

    package init(_ limits: TransferLimits) {
        self.limits = limits
    }

    /// Starts a new version of the source. Chunks of earlier versions still count toward the limits.
    mutating func beginVersion() { totalByteCount = nil }

    /// Counts a chunk.
    ///
    /// - Parameters:
    ///   - loaded: The chunk.
    ///   - offset: The number of bytes that are already transferred. Only the bytes after it count.
    /// - Throws: A ``Problem`` if the chunk must be rejected.
    package mutating func add(_ loaded: LoadedChunk, after offset: Int) throws(Problem) {
        let chunk = loaded.chunk
        let (end, isTooLarge) = chunk.offset.addingReportingOverflow(chunk.bytes.count)
        if let problem = limits.problem(withByteCount: isTooLarge ? .max : max(end, loaded.totalByteCount ?? 0)) {
            throw .limit(problem)
        }
        if let total = loaded.totalByteCount {
            if let earlier = totalByteCount, earlier != total {
                throw .contradiction("reported a size of \(earlier) bytes, and then of \(total)")
            }
            totalByteCount = total
        }
        if let totalByteCount, end > totalByteCount {
            throw .contradiction("returned data up to byte \(end), but reported a size of \(totalByteCount)")
        }
        chunkCount += 1
        byteCount += max(0, end - offset)
        guard chunkCount > TransferLimits.smallChunkCount + byteCount / limits.minimumChunkByteCount else { return }
        throw .limit(
            """
            returned \(byteCount) bytes in \(chunkCount) chunks, on average less than TransferLimits.minimumChunkByteCount \
            (\(limits.minimumChunkByteCount)). Lower the limit, or load larger chunks
            """
        )
    }
}
