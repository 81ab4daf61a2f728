#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A snapshot of an outbox, read from its store. Reading it requires no open outbox and does not affect the owner.
///
/// ```swift
/// func printRefused(in store: any RecordStore) async throws {
///     let contents = try await OutboxContents(of: store, under: ["outbox"])
///     for item in contents.deadLetters { print(item.id, item.write?.path ?? "", item.cause ?? "") }
/// }
/// ```
///
/// ``Outbox/contents()`` adds what only the outbox itself knows, such as which writes are being sent.
public struct OutboxContents: Hashable, Sendable {
    /// The pending writes, in the order they were accepted, including records that cannot be read.
    public var pending: [OutboxItem] = []
    /// The refused writes, in the order they were accepted.
    public var deadLetters: [OutboxItem] = []
    /// Why delivery is paused, or `nil` if it is not.
    public var pause: OutboxPause?

    init(pending: [OutboxItem], deadLetters: [OutboxItem]) {
        self.pending = pending
        self.deadLetters = deadLetters
    }

    /// Reads the contents of an outbox from a store.
    ///
    /// - Parameters:
    ///   - store: The store of the outbox.
    ///   - prefix: The key prefix of the outbox's records.
    /// - Complexity: O(n) in the number of writes. It reads all bodies.
    /// - Throws: a ``RecordStoreError`` if the store cannot be read.
    public init(of store: any RecordStore, under prefix: RecordKey = ["outbox"]) async throws(RecordStoreError) {
        let records = OutboxRecords(prefix: prefix)
        // Reads the entries last, so that an entry that is refused in the meantime is listed twice rather than not at all.
        let letters = try await store.records(under: records.dead)
        let left = try await LeftEntries(of: store, records)
        deadLetters =
            left.lostLetters.map { OutboxItem(unreadable: $0.idempotencyKey, .lost, byteCount: 0) }
            + letters.map { key, record in
                guard let name = OutboxEntryName(key, under: records.dead) else { return Self.misnamed(key, record) }
                return DeadLetterDTO.item(from: record.bytes, named: name)
            }
        pending = left.items.map(OutboxItem.init) + left.misnamed.map { Self.misnamed($0.key, $0.record) }
        if left.unknownLosses != nil {
            pending.append(OutboxItem(unreadable: OutboxItem.unknownLossesID, .unknownLosses, byteCount: 0))
        }
        let listed = Set(pending.map(\.id))
        deadLetters.removeAll { listed.contains($0.id) }
        pause = left.streak?.pause
    }

    /// When the oldest readable pending write was accepted, or `nil` if there is none.
    public var oldestAcceptedAt: Date? { pending.lazy.compactMap(\.acceptedAt).min() }

    /// The number and size of the listed writes. The outcome of a write that is being sent counts as unknown.
    public var status: OutboxStatus {
        var status = OutboxStatus()
        for item in pending {
            status.pendingCount += 1
            status.pendingBytes += item.byteCount
            switch item.state {
            case .outcomeUnknown, .sending: status.outcomeUnknownCount += 1
            case .undeliverable: status.undeliverableCount += 1
            case .waiting, .refused: break
            }
        }
        status.deadLetterCount = deadLetters.count
        status.deadLetterBytes = deadLetters.reduce(0) { $0 + $1.byteCount }
        status.oldestAcceptedAt = oldestAcceptedAt
        status.pause = pause
        return status
    }

    private static func misnamed(_ key: RecordKey, _ record: StoredRecord) -> OutboxItem {
        OutboxItem(unreadable: key.description, .damaged(LeftEntries.misnamedProblem), byteCount: record.bytes.count)
    }
}

extension OutboxItem {
    init(_ item: OutboxPartitions.Item) {
        switch item {
        case .delivery(let delivery), .suspended(let delivery):
            self.init(
                id: delivery.entry.idempotencyKey,
                state: delivery.mayHaveArrived ? .outcomeUnknown : .waiting,
                write: delivery.entry.write,
                acceptedAt: delivery.entry.acceptedAt,
                attempts: delivery.entry.attempts,
                cause: delivery.cause,
                byteCount: delivery.entry.write.byteCount
            )
        case .held(let held):
            self.init(
                id: held.name.idempotencyKey,
                state: .undeliverable(held.reason),
                write: held.entry?.write,
                acceptedAt: held.entry?.acceptedAt,
                attempts: held.entry?.attempts ?? 0,
                cause: "It \(held.reason)",
                byteCount: held.byteCount
            )
        }
    }

    init(_ left: LeftEntries.Item) {
        switch left {
        case .held(let held): self.init(OutboxPartitions.Item.held(held))
        case .entry(let entry, let note):
            self.init(
                id: entry.idempotencyKey,
                state: note.isSending ? .sending : note.mayHaveArrived ? .outcomeUnknown : .waiting,
                write: entry.write,
                acceptedAt: entry.acceptedAt,
                attempts: entry.attempts,
                nextAttempt: note.nextAttemptDate,
                cause: note.cause,
                byteCount: entry.write.byteCount
            )
        }
    }
}

/// The size of an outbox's contents, and whether delivery is paused.
///
/// ```swift
/// func warn(about status: OutboxStatus) {
///     if let oldest = status.oldestAcceptedAt { print("\(status.pendingCount) writes wait, the oldest since \(oldest).") }
///     if status.undeliverableCount > 0 { print("\(status.undeliverableCount) of them cannot be sent.") }
/// }
/// ```
public struct OutboxStatus: Hashable, Sendable {
    /// The number of pending writes: accepted, and neither delivered nor refused.
    public internal(set) var pendingCount = 0
    /// The number of pending writes that the upstream may have done already.
    public internal(set) var outcomeUnknownCount = 0
    /// The number of pending writes that are held: they are not sent, for the reason in an ``UndeliverableEntryError``.
    public internal(set) var undeliverableCount = 0
    /// The total size of the pending writes in bytes.
    public internal(set) var pendingBytes = 0
    /// The number of dead letters.
    public internal(set) var deadLetterCount = 0
    /// The total size of the dead letters in bytes.
    public internal(set) var deadLetterBytes = 0
    /// When the oldest readable pending write was accepted, or `nil` if there is none.
    public internal(set) var oldestAcceptedAt: Date?
    /// Why delivery is paused, or `nil` if it is not.
    public internal(set) var pause: OutboxPause?
}
