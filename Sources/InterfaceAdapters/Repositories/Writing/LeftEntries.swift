#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a store keeps of an outbox's pending writes.
struct LeftEntries {
    /// An entry with what is noted of its attempts, or what keeps those behind it from being sent.
    enum Item {
        case entry(OutboxEntry, AttemptNote)
        case held(OutboxLanes.HeldItem)
    }

    static let misnamedProblem = "it is not kept under what an entry is"

    private(set) var items: [Item] = []
    /// Records whose keys name no entry.
    private(set) var misnamed: [(key: RecordKey, record: StoredRecord)] = []
    private(set) var nextSequence = 0
    /// Notes of entries that are gone.
    private(set) var orphans: [RecordKey] = []
    /// The refusals in a row; `nil` if there are none.
    private(set) var streak: RefusalStreak.Record?

    /// The entries that can be read, whether or not they are sent.
    var readable: [OutboxEntry] {
        items.compactMap { item in
            switch item {
            case .entry(let entry, _): entry
            case .held(let item): item.entry
            }
        }
    }

    /// Reads what is kept.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot be read.
    init(of store: any RecordStore, _ records: OutboxRecords) async throws(RecordStoreError) {
        let entries = try await store.records(under: records.entries)
        var notes: [OutboxEntryName: AttemptNote] = [:]
        let names = Set(entries.compactMap { OutboxEntryName($0.key, under: records.entries) })
        for (key, record) in try await store.records(under: records.attempts) {
            if let name = OutboxEntryName(key, under: records.attempts), names.contains(name) {
                notes[name] = AttemptNote(record.bytes)
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

    /// Holds the entries that cannot be sent, for a reason that is given.
    mutating func hold(_ objection: (OutboxWrite) -> HeldEntryError.Reason?) {
        items = items.map { item in
            guard case .entry(let entry, _) = item, let reason = objection(entry.write) else { return item }
            return .held(
                .init(name: OutboxEntryName(entry), entry: entry, reason: reason, byteCount: entry.write.byteCount)
            )
        }
    }

    /// What cannot be delivered.
    func problems(_ records: OutboxRecords) -> [HeldEntryError] {
        items.compactMap { item in
            guard case .held(let item) = item else { return nil }
            return HeldEntryError(item.name.key(under: records.entries), item.reason)
        } + misnamed.map { HeldEntryError($0.key, .damaged(Self.misnamedProblem)) }
    }
}
