import InwardTesting
import InwardTransfers
import Synchronization

/// A saver with one flaw.
struct FlawedDataSaver: DataSaver {
    /// The flaws. Each raw value is a part of the violation that reports it.
    enum Flaw: String, CaseIterable {
        case forgets = "Saved data must be visible"
        case seenEarly = "must not be visible before it is published"
        case neverSeen = "A published draft must be visible"
        case beginsOnce = "A draft that begins again must discard its earlier bytes"
        case forgetsOnlyLittle = "must discard its earlier bytes, but keeps"
        case ignoresTheChecksum = "must be refused"
        case mistaken = "must report the part that was reached"
        case keepsAll = "A draft that cannot be resumed must not be offered for resumption"
        case ignoresCancellation = "A cancelled save must fail"
        case fails = "must not fail"
        case appendsAfterCancellation = "A draft of a cancelled task must refuse bytes"
        case sharesDraft = "Of two concurrent drafts"
        case savesTorn = "Readers must see complete data"
        case publishesTorn = "while other data is saved"
        case savesIntoTheDraft = "even if other data was saved meanwhile"
        case ignoresSavesDuringADraft = "Data saved while a draft is open must be visible"
        case leavesPartialDataWhenCancelled = "A save that is cancelled in progress must take effect completely"
    }

    /// The state that drafts share.
    private final class Shared: Sendable {
        let bytes = Mutex<[UInt8]>([])
        /// The data that was saved since a draft was begun.
        let saved = Mutex<[UInt8]>([])
        let isWritten = Mutex(false)
    }

    private struct Draft: DataDraft {
        var base: any DataDraft
        let flaw: Flaw
        let saver: InMemoryDataSaver
        let shared: Shared
        var written: [UInt8] = []
        var hasBegun = false

        var saved: SavedPart? {
            switch flaw {
            case .mistaken:
                guard var saved = base.saved else { return nil }
                saved.loadedByteCount += 1
                return saved
            case .keepsAll: return base.saved ?? SavedPart(source: nil, validator: nil, steps: nil)
            default: return base.saved
            }
        }

        mutating func begin() async throws(DataSaverError) {
            if flaw == .beginsOnce, hasBegun { return }
            if flaw == .forgetsOnlyLittle, written.count > 65_536 { return }
            hasBegun = true
            written = []
            shared.bytes.withLock { $0 = [] }
            shared.saved.withLock { $0 = [] }
            shared.isWritten.withLock { $0 = true }
            try await base.begin()
        }

        mutating func append(_ bytes: [UInt8], reaching part: SavedPart) async throws(DataSaverError) {
            written += bytes
            if flaw == .seenEarly { try await saver.save(written) }
            shared.bytes.withLock { $0 += bytes }
            if flaw == .appendsAfterCancellation, Task.isCancelled { return }
            try await base.append(bytes, reaching: part)
        }

        mutating func publish(_ checksum: Checksum) async throws(DataSaverError) {
            shared.isWritten.withLock { $0 = false }
            switch flaw {
            case .neverSeen: break
            case .sharesDraft: try await saver.save(shared.bytes.withLock(\.self))
            case .savesIntoTheDraft:
                let saved = shared.saved.withLock(\.self)
                try await saver.save(saved + written.dropFirst(saved.count))
            case .publishesTorn:
                try await saver.save(Array(written.prefix(written.count / 2)))
                for _ in 0..<8 { await Task.yield() }
                try await base.publish(checksum)
            case .ignoresTheChecksum: try await base.publish(Checksum(of: written.span))
            default: try await base.publish(checksum)
            }
        }

        mutating func leave() async {
            shared.isWritten.withLock { $0 = false }
            await base.leave()
        }
    }

    let base: InMemoryDataSaver
    let flaw: Flaw
    private let shared = Shared()

    init(base: InMemoryDataSaver, flaw: Flaw) {
        self.base = base
        self.flaw = flaw
    }

    func save(_ data: [UInt8]) async throws(DataSaverError) {
        switch flaw {
        case .forgets: return
        case .fails: throw DataSaverError(destination: "It", explanation: "fails")
        case .ignoresCancellation where Task.isCancelled: return
        case .savesIntoTheDraft:
            shared.saved.withLock { $0 = data }
            try await base.save(data)
        case .ignoresSavesDuringADraft where shared.isWritten.withLock(\.self): return
        case .leavesPartialDataWhenCancelled where data.count > 100_000:
            try await base.save(Array(data.prefix(data.count / 2)))
            for _ in 0..<2_000 {
                if Task.isCancelled { throw DataSaverError(destination: "It", explanation: "was cancelled") }
                await Task.yield()
            }
            try await base.save(data)
        case .savesTorn:
            try await base.save(Array(data.prefix(data.count / 2)))
            for _ in 0..<32 { await Task.yield() }
            try await base.save(data)
        default: try await base.save(data)
        }
    }

    func openDraft() async throws(DataSaverError) -> any DataDraft {
        Draft(base: try await base.openDraft(), flaw: flaw, saver: base, shared: shared)
    }
}
