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
