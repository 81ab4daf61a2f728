import InwardCore
import InwardTransfers
import Synchronization

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
        case clearsWhenCancelled = "What a cancelled task loads must have its bytes"
        case credulous = "A chunk must name the version that it is of"
        case sharesCursor = "Many at once"
        case changesName = "A source must always have the same name"
    }

    /// What a loader remembers from call to call, and must not.
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
        // A task of its own is not cancelled with the one that asks, which waits for its end.
        let result = flaw == .heedless ? await Task { await Result(awaiting: ask) }.value : await Result(awaiting: ask)
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
        case .credulous:
            LoadedChunk(chunk, validator: validator ?? loaded.validator, totalByteCount: loaded.totalByteCount)
        case .everythingCurrent, .nothingCurrent, .fails, .heedless, .clearsWhenCancelled, .sharesCursor, .changesName:
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
