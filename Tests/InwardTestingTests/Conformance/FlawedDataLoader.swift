import UseCases

/// A loader that does one thing wrong.
struct FlawedDataLoader: DataLoader {
    /// What it does wrong, by a part of what is said of it.
    enum Flaw: String, CaseIterable {
        case otherBytes = "must have its bytes"
        case otherVersion = "must be of the version asked for"
        case neverLast = "must say whether it is the last"
        case otherTotal = "must say how many bytes there are"
        case elsewhere = "must have what is there"
        case partWithoutVersion = "must be all there is"
        case everythingCurrent = "must not have a version that it never had"
        case nothingCurrent = "must still have its version"
        case fails = "must not fail"
        case heedless = "A cancelled task"
    }

    let base: any DataLoader
    let flaw: Flaw

    var source: String? { base.source }

    func piece(at offset: Int, of validator: String?) async throws(DataLoaderError) -> LoadedPiece {
        if flaw == .fails { throw DataLoaderError(source: "It", explanation: "fails") }
        let base = base
        let ask = { @Sendable () async throws(DataLoaderError) in try await base.piece(at: offset, of: validator) }
        // A task of its own is not cancelled with the one that asks, which waits for its end.
        let result = flaw == .heedless ? await Task { await Result(awaiting: ask) }.value : await Result(awaiting: ask)
        let loaded = try result.get()
        let piece = loaded.piece
        return switch flaw {
        case .otherBytes: with(loaded, DataPiece(piece.bytes.map { ~$0 }, at: piece.offset, isLast: piece.isLast))
        case .otherVersion: LoadedPiece(piece, validator: "\(offset)", totalByteCount: loaded.totalByteCount)
        case .neverLast: with(loaded, DataPiece(piece.bytes, at: piece.offset, isLast: false))
        case .otherTotal: LoadedPiece(piece, validator: loaded.validator, totalByteCount: 99)
        case .elsewhere: with(loaded, DataPiece(piece.bytes, at: piece.offset + 1, isLast: piece.isLast))
        case .partWithoutVersion: LoadedPiece(piece, validator: nil, totalByteCount: loaded.totalByteCount)
        case .everythingCurrent, .nothingCurrent, .fails, .heedless: loaded
        }
    }

    func stillHas(_ validator: String) async throws(DataLoaderError) -> Bool {
        switch flaw {
        case .everythingCurrent: true
        case .nothingCurrent: false
        default: try await base.stillHas(validator)
        }
    }

    private func with(_ loaded: LoadedPiece, _ piece: DataPiece) -> LoadedPiece {
        LoadedPiece(piece, validator: loaded.validator, totalByteCount: loaded.totalByteCount)
    }
}
