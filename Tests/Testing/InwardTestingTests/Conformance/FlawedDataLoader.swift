import InwardCore
import InwardTransfers
import Synchronization

/// A loader with one flaw.
struct FlawedDataLoader: DataLoader {
    /// The flaws. Each raw value is a part of the violation that reports it.
    enum Flaw: String, CaseIterable {
        case otherBytes = "must contain the right bytes"
        case otherVersion = "must have the requested version"
        case neverLast = "must report correctly whether it is the last"
        case otherTotal = "must report the total byte count correctly"
        case elsewhere = "must include its offset"
        case partWithoutVersion = "must contain the complete data"
        case everythingCurrent = "must return false for an unknown version"
        case nothingCurrent = "must return true while the source is unchanged"
        case fails = "must not fail"
        case ignoresCancellation = "A cancelled load must fail"
        case clearsWhenCancelled = "A chunk loaded by a cancelled task must contain the right bytes"
        case echoesTheVersion = "A chunk must have its own version"
        case sharesCursor = "Concurrently"
        case changesName = "The name of a source must not change"
    }

    /// The state that a flawed loader wrongly keeps from call to call.
    private final class Memory: Sendable {
        let cursor = Atomic(0)
        let names = Atomic(0)
    }

    let base: any DataLoader
    let flaw: Flaw
    private let memory = Memory()

    init(base: any DataLoader, flaw: Flaw) {
        self.base = base
        self.flaw = flaw
    }

    var source: String? {
        guard flaw == .changesName else { return base.source }
        return "\(memory.names.add(1, ordering: .relaxed).newValue)"
    }

    func chunk(at offset: Int, of validator: String?) async throws(DataLoaderError) -> LoadedChunk {
        if flaw == .fails { throw DataLoaderError(source: "It", explanation: "fails") }
        let base = base
        var offset = offset
        if flaw == .sharesCursor {
            memory.cursor.store(offset, ordering: .relaxed)
            await Task.yield()
            offset = memory.cursor.load(ordering: .relaxed)
        }
        let asked = offset
        let ask = { @Sendable () async throws(DataLoaderError) in try await base.chunk(at: asked, of: validator) }
        // An unstructured task is not cancelled with the caller, which awaits it.
        let result =
            flaw == .ignoresCancellation
            ? await Task { await Result(awaiting: ask) }.value : await Result(awaiting: ask)
        let loaded = try result.get()
        let chunk = loaded.chunk
        if flaw == .clearsWhenCancelled {
            for _ in 0..<4 { await Task.yield() }
            guard Task.isCancelled else { return loaded }
            return with(loaded, DataChunk(chunk.bytes.map { _ in 0xFF }, at: chunk.offset, isLast: chunk.isLast))
        }
        return switch flaw {
        case .otherBytes: with(loaded, DataChunk(chunk.bytes.map { ~$0 }, at: chunk.offset, isLast: chunk.isLast))
        case .otherVersion: LoadedChunk(chunk, validator: "\(offset)", totalByteCount: loaded.totalByteCount)
        case .neverLast: with(loaded, DataChunk(chunk.bytes, at: chunk.offset, isLast: false))
        case .otherTotal: LoadedChunk(chunk, validator: loaded.validator, totalByteCount: 99)
        case .elsewhere: with(loaded, DataChunk(chunk.bytes, at: chunk.offset + 1, isLast: chunk.isLast))
        case .partWithoutVersion: LoadedChunk(chunk, validator: nil, totalByteCount: loaded.totalByteCount)
        case .echoesTheVersion:
            LoadedChunk(chunk, validator: validator ?? loaded.validator, totalByteCount: loaded.totalByteCount)
        case .everythingCurrent, .nothingCurrent, .fails, .ignoresCancellation, .clearsWhenCancelled, .sharesCursor,
            .changesName:
            loaded
        }
    }

    func stillHas(_ validator: String) async throws(DataLoaderError) -> Bool {
        switch flaw {
        case .everythingCurrent: true
        case .nothingCurrent: false
        default: try await base.stillHas(validator)
        }
    }

    private func with(_ loaded: LoadedChunk, _ chunk: DataChunk) -> LoadedChunk {
        LoadedChunk(chunk, validator: loaded.validator, totalByteCount: loaded.totalByteCount)
    }
}
