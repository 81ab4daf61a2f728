#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The pending writes that a store holds for an outbox.
struct LeftEntries {
    /// An entry with the note of its attempts, or a held item, which blocks the later entries of its subject.
    enum Item {
        case entry(OutboxEntry, AttemptNote)
        case held(OutboxPartitions.HeldItem)

        var name: OutboxEntryName {
            switch self {
            case .entry(let entry, _): OutboxEntryName(entry)
            case .held(let item): item.name
            }
        }

        /// The entry, if it can be sent now or once it is released.
        var entryToSend: OutboxEntry? {
            switch self {
            case .entry(let entry, _): entry
            case .held(let item): item.note == nil ? nil : item.entry
            }
        }
    }

    static let misnamedProblem = "its key is not the key of an entry"

    private(set) var items: [Item] = []
    /// Records whose keys are not valid names of entries.
    private(set) var misnamed: [(key: RecordKey, record: StoredRecord)] = []
    private(set) var nextSequence = 0
    /// The dead letters that the store lost.
    private(set) var lostLetters: [OutboxEntryName] = []
    /// The number of losses of unknown records, or `nil` if all of them are acknowledged.
    private(set) var unknownLosses: Int?
    private var areUnknownLossesTold = false
    /// Keys of notes whose entries no longer exist.
    private(set) var orphans: [RecordKey] = []
    /// The streak of refusals, or `nil` if there is none.
    private(set) var streak: RefusalStreak.Record?

    /// The readable entries, held ones included.
    var readable: [OutboxEntry] {
        items.compactMap { item in
            switch item {
            case .entry(let entry, _): entry
            case .held(let item): item.entry
            }
        }
    }

    /// Reads the entries from a store.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot be read.
    init(of store: any RecordStore, _ records: OutboxRecords) async throws(RecordStoreError) {
        let entries = try await store.records(under: records.entries)
        let attempts = try await store.records(under: records.attempts)
        let acknowledged = try await store.record(for: records.losses)
        // Read last: records that the reads above omitted because of damage now count as losses.
        let losses = try await store.losses(under: records.prefix)
        var notes: [OutboxEntryName: AttemptNote] = [:]
        let names = Set(entries.compactMap { OutboxEntryName($0.key, under: records.entries) })
        for (key, record) in attempts {
            if let name = OutboxEntryName(key, under: records.attempts), names.contains(name) {
                notes[name] = AttemptNote(record.bytes)
            } else {
                orphans.append(key)
            }
        }
        for key in losses.keys where records.attempts.contains(key) {
            if let name = OutboxEntryName(key, under: records.attempts), names.contains(name) {
                notes[name] = AttemptNote(attempts: 0, mayHaveArrived: true)
            } else {
                orphans.append(key)
            }
        }
        for (key, record) in entries {
            guard let name = OutboxEntryName(key, under: records.entries) else {
                misnamed.append((key, record))
                continue
            }
            add(record.bytes, named: name, notes[name])
        }
        add(losses, after: acknowledged, records)
        if let record = try await store.record(for: records.pause) {
            streak = try? RefusalStreak.Record.decoded(from: Data(record.bytes))
        }
    }

    /// Adds an entry.
    private mutating func add(_ bytes: [UInt8], named name: OutboxEntryName, _ noted: AttemptNote?) {
        nextSequence = max(nextSequence, name.sequence + 1)
        let note =
            noted
            ?? AttemptNote(attempts: 0, mayHaveArrived: OutboxEntryDTO.mayHaveBeenSentWithoutNote(bytes))
        switch OutboxEntryDTO.entry(from: bytes, named: name, attempts: note.attempts) {
        case .success(let entry): items.append(.entry(entry, note))
        case .failure(let problem):
            items.append(.held(.init(name: name, entry: nil, reason: .init(problem), byteCount: bytes.count)))
        }
    }

    /// Adds the losses of the store. A lost entry keeps its place. A loss of unknown records holds every entry.
    private mutating func add(_ losses: RecordLosses, after acknowledged: StoredRecord?, _ records: OutboxRecords) {
        let names = Set(items.map(\.name))
        for key in losses.keys {
            if let name = OutboxEntryName(key, under: records.dead) { lostLetters.append(name) }
            guard let name = OutboxEntryName(key, under: records.entries), !names.contains(name) else { continue }
            nextSequence = max(nextSequence, name.sequence + 1)
            items.append(.held(.init(name: name, entry: nil, reason: .lost, byteCount: 0)))
        }
        items.sort { $0.name.sequence < $1.name.sequence }
        let count = acknowledged.flatMap { Int(String(decoding: $0.bytes, as: UTF8.self)) } ?? 0
        // A damaged record may contain a negative count. That alone is not a loss.
        guard losses.unknownCount > max(0, count) else { return }
        unknownLosses = losses.unknownCount
        areUnknownLossesTold = true
        items = items.map { item in
            guard case .entry(let entry, let note) = item else { return item }
            return .held(.init(entry, .behindLosses, note))
        }
    }

    /// Treats the losses of unknown records as acknowledged.
    mutating func acknowledgeLosses() { unknownLosses = nil }

    /// Holds the entries for which a closure returns a reason.
    mutating func hold(_ objection: (OutboxWrite) -> UndeliverableEntryError.Reason?) {
        items = items.map { item in
            guard let entry = item.entryToSend, let reason = objection(entry.write) else { return item }
            return .held(.init(entry, reason))
        }
    }

    /// Returns an error for each entry that cannot be delivered. Entries that are held because of unknown losses share one
    /// error.
    func problems(_ records: OutboxRecords) -> [UndeliverableEntryError] {
        let unknown = areUnknownLossesTold ? [UndeliverableEntryError(records.prefix, .unknownLosses)] : []
        let held = items.compactMap { item -> UndeliverableEntryError? in
            guard case .held(let item) = item, item.note == nil else { return nil }
            return UndeliverableEntryError(item.name.key(under: records.entries), item.reason)
        }
        return unknown + held + misnamed.map { UndeliverableEntryError($0.key, .damaged(Self.misnamedProblem)) }
    }
}

extension OutboxPartitions.HeldItem {
    init(_ entry: OutboxEntry, _ reason: UndeliverableEntryError.Reason, _ note: AttemptNote? = nil) {
        self.init(
            name: OutboxEntryName(entry),
            entry: entry,
            reason: reason,
            byteCount: entry.write.byteCount,
            note: note
        )
    }
}
