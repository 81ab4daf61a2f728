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
        case held(OutboxPartitions.HeldItem)

        var name: OutboxEntryName {
            switch self {
            case .entry(let entry, _): OutboxEntryName(entry)
            case .held(let item): item.name
            }
        }

        /// The entry, if it can be sent now or as soon as nothing holds it.
        var entryToSend: OutboxEntry? {
            switch self {
            case .entry(let entry, _): entry
            case .held(let item): item.note == nil ? nil : item.entry
            }
        }
    }

    static let misnamedProblem = "it is not kept under what an entry is"

    private(set) var items: [Item] = []
    /// Records whose keys name no entry.
    private(set) var misnamed: [(key: RecordKey, record: StoredRecord)] = []
    private(set) var nextSequence = 0
    /// The refused writes that the store lost.
    private(set) var lostLetters: [OutboxEntryName] = []
    /// How many losses of unknown records there are, if that is more than somebody has acknowledged; else `nil`.
    private(set) var unknownLosses: Int?
    private var areUnknownLossesTold = false
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
        let attempts = try await store.records(under: records.attempts)
        let acknowledged = try await store.record(for: records.losses)
        // Behind the rest: what that did not give because of damage is a loss by now.
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

    /// Adds what the store lost: a lost entry keeps its place, and a loss that nobody can name holds every entry.
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
        // A damaged count may be negative, and is no loss by itself.
        guard losses.unknownCount > max(0, count) else { return }
        unknownLosses = losses.unknownCount
        areUnknownLossesTold = true
        items = items.map { item in
            guard case .entry(let entry, let note) = item else { return item }
            return .held(.init(entry, .behindLosses, note))
        }
    }

    /// Counts the losses of unknown records as acknowledged.
    mutating func acknowledgeLosses() { unknownLosses = nil }

    /// Holds the entries that cannot be sent, for a reason that is given.
    mutating func hold(_ objection: (OutboxWrite) -> UndeliverableEntryError.Reason?) {
        items = items.map { item in
            guard let entry = item.entryToSend, let reason = objection(entry.write) else { return item }
            return .held(.init(entry, reason))
        }
    }

    /// What cannot be delivered. Of entries that are held because of losses nobody can name, only these losses are told.
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
