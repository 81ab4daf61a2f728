import InwardTransfers

/// A loader that goes on giving something of what was there before its source was replaced.
///
/// What takes the place of the old bytes must be as many.
struct StaleDataLoader: DataLoader {
    enum Flaw: CaseIterable {
        case givesOldBytes
        case givesOldBytesLater
        case givesOldVersion
        case stillHasOldVersion
        /// Names the old version for what is not the beginning.
        case goesOnAsIfNothingHappened
        /// Fails where the old version ended.
        case failsAtTheOldEnd
    }

    /// What is replaced.
    let base: any DataLoader
    /// What has the bytes that there are before.
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
        case .givesOldBytesLater where chunk.offset == 0: loaded
        case .givesOldBytes, .givesOldBytesLater:
            LoadedChunk(
                DataChunk(Array(oldBytes[range]), at: chunk.offset, isLast: chunk.isLast),
                validator: loaded.validator,
                totalByteCount: loaded.totalByteCount
            )
        case .givesOldVersion: try await old.chunk(at: offset, of: validator)
        case .goesOnAsIfNothingHappened where isOld && chunk.offset > 0:
            LoadedChunk(chunk, validator: validator, totalByteCount: loaded.totalByteCount)
        case .stillHasOldVersion, .goesOnAsIfNothingHappened, .failsAtTheOldEnd: loaded
        }
    }

    func stillHas(_ validator: String) async throws(DataLoaderError) -> Bool {
        if flaw == .stillHasOldVersion { return true }
        return try await chunk(at: 0, of: validator).validator == validator
    }
}
