import InwardTesting
import InwardTransfers
import Synchronization

/// A saver that does one thing wrong.
struct FlawedDataSaver: DataSaver {
    /// What it does wrong, by a part of what is said of it.
    enum Flaw: String, CaseIterable {
        case forgets = "What is saved at once must be seen"
        case seenEarly = "must not be seen before it is published"
        case neverSeen = "What is published must be seen"
        case beginsOnce = "A draft that begins again must have nothing from before"
        case forgetsOnlyLittle = "must have nothing from before, and has"
        case credulous = "must be refused"
        case mistaken = "must be what was reached"
        case keepsAll = "What cannot be resumed must not be found again"
        case heedless = "A cancelled task"
        case fails = "must not fail"
        case appendsHeedlessly = "A draft of a cancelled task must take no bytes"
        case sharesDraft = "Of two drafts at the same time"
        case savesTorn = "What is seen must be whole"
        case publishesTorn = "while something else is saved"
        case savesIntoTheDraft = "though something was saved meanwhile"
        case savesNothingBesideADraft = "What is saved while a draft is written must be seen"
        case leavesHalfWhenCancelled = "A save that is cancelled on the way must be seen whole"
    }

    /// What all drafts are written into, where they share it.
    private final class Shared: Sendable {
        let bytes = Mutex<[UInt8]>([])
        /// What was saved at once since a draft was begun.
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
            if flaw == .appendsHeedlessly, Task.isCancelled { return }
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
            case .credulous: try await base.publish(Checksum(of: written.span))
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
        case .heedless where Task.isCancelled: return
        case .savesIntoTheDraft:
            shared.saved.withLock { $0 = data }
            try await base.save(data)
        case .savesNothingBesideADraft where shared.isWritten.withLock(\.self): return
        case .leavesHalfWhenCancelled where data.count > 100_000:
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
