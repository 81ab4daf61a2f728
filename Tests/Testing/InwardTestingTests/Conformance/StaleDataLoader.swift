import InwardTransfers

/// A loader that returns stale data after its source was replaced. The replacement must have as many bytes as the original.
struct StaleDataLoader: DataLoader {
    enum Flaw: CaseIterable {
        case returnsOldBytes
        case returnsOldBytesLater
        case returnsOldVersion
        case stillHasOldVersion
        /// Reports the old version for all chunks except the first.
        case continuesTheOldVersion
        /// Fails at the end of the old version.
        case failsAtTheOldEnd
    }

    /// The loader whose source is replaced.
    let base: any DataLoader
    /// A loader of the original bytes.
    let old: any DataLoader
    let oldBytes: [UInt8]
    let flaw: Flaw

    var source: String? { base.source }

    func chunk(at offset: Int, of validator: String?) async throws(DataLoaderError) -> LoadedChunk {
        let oldValidator = try await old.chunk(at: 0, of: nil).validator
        let isOld = validator != nil && validator == oldValidator
        if flaw == .failsAtTheOldEnd, isOld, offset == oldBytes.count {
            throw DataLoaderError(source: "It", explanation: "has nothing there")
        }
        let loaded = try await base.chunk(at: offset, of: validator)
        let chunk = loaded.chunk
        let range = chunk.offset..<chunk.offset + chunk.bytes.count
        return switch flaw {
        case .returnsOldBytesLater where chunk.offset == 0: loaded
        case .returnsOldBytes, .returnsOldBytesLater:
            LoadedChunk(
                DataChunk(Array(oldBytes[range]), at: chunk.offset, isLast: chunk.isLast),
                validator: loaded.validator,
                totalByteCount: loaded.totalByteCount
            )
        case .returnsOldVersion: try await old.chunk(at: offset, of: validator)
        case .continuesTheOldVersion where isOld && chunk.offset > 0:
            LoadedChunk(chunk, validator: validator, totalByteCount: loaded.totalByteCount)
        case .stillHasOldVersion, .continuesTheOldVersion, .failsAtTheOldEnd: loaded
        }
    }

    func stillHas(_ validator: String) async throws(DataLoaderError) -> Bool {
        if flaw == .stillHasOldVersion { return true }
        return try await chunk(at: 0, of: validator).validator == validator
    }
}
