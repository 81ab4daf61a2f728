import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a repository keeps beyond the life of a process: each entity under its identity, and of a list the identities.
struct EntityStore<Entity: Identifiable & Sendable>: Sendable where Entity.ID: Sendable {
    /// An answer that was kept, and how old it is.
    struct Found<Value> {
        let value: Value
        let age: Duration
        /// How many bytes it is kept in.
        let byteCount: Int
    }

    /// 300 years, in seconds.
    private static var longestAge: Double { 1e10 }

    private let endpoint: Endpoint<Entity>
    private let store: any RecordStore
    private let prefix: RecordKey
    private let now: @Sendable () -> Date
    let report: @Sendable (RecordStoreError) -> Void
    let writer: StoreWriter

    init(_ endpoint: Endpoint<Entity>, in place: RepositoryStore, executor: (any TaskExecutor)? = nil) {
        self.endpoint = endpoint
        store = place.records
        prefix = place.partition.appending(endpoint.name)
        now = place.now
        report = place.reportFailure
        writer = StoreWriter(store, under: prefix, executor: executor, report: report)
    }

    private var lists: RecordKey { prefix.appending("lists") }

    private func key(of id: String) -> RecordKey { prefix.appending("one").appending(id) }

    private func key(of filter: EntityFilter<Entity>) -> RecordKey {
        filter.fields.reduce(lists) { $0.appending($1.name).appending($1.value) }
    }

    // MARK: Changes

    /// Keeps an entity that was asked for so long ago.
    func keep(_ entity: Entity, age: Duration) -> RecordChange {
        let key = key(of: String(describing: entity.id))
        // An entity that cannot be written is not kept.
        guard let body = try? endpoint.encode(entity) else { return .remove(key) }
        return keep(body, age: age, under: key)
    }

    /// Keeps a list that was asked for so long ago, but not its entities.
    func keep(_ list: EntityList<Entity>, of filter: EntityFilter<Entity>, age: Duration) -> RecordChange {
        let stored = StoredList(ids: list.entities.map { String(describing: $0.id) }, rejected: list.rejected)
        guard let body = try? JSONEncoder().encode(stored) else { return .remove(key(of: filter)) }
        return keep(body, age: age, under: key(of: filter))
    }

    /// Forgets the entity of an identity.
    func remove(_ id: Entity.ID) -> RecordChange { .remove(key(of: String(describing: id))) }

    /// Forgets every list.
    var removeLists: RecordChange { .removeAll(lists) }

    /// Forgets all that the repository has.
    var removeAll: RecordChange { .removeAll(prefix) }

    private func keep(_ body: Data, age: Duration, under key: RecordKey) -> RecordChange {
        let time = now().addingTimeInterval(-age.seconds)
        let expiry = time.addingTimeInterval(endpoint.lifetimes.expiresAfter.seconds)
        return .keep(StoredRecord(StoredAnswer(time: time, body: body).bytes, expiry: expiry), key)
    }

    // MARK: Answers

    /// The entity of an identity, if it is kept.
    ///
    /// - Throws: a ``RecordStoreError`` if that cannot be known.
    func entity(_ id: Entity.ID) async throws(RecordStoreError) -> Found<Entity>? {
        await writer.flush()
        guard !writer.isOutdated else { return nil }
        let name = String(describing: id)
        return try await store.record(for: key(of: name)).flatMap { entity(name, in: $0) }
    }

    /// A list, if it and all of its entities are kept.
    ///
    /// - Throws: a ``RecordStoreError`` if that cannot be known.
    func list(_ filter: EntityFilter<Entity>) async throws(RecordStoreError) -> Found<EntityList<Entity>>? {
        await writer.flush()
        guard !writer.isOutdated, let record = try await store.record(for: key(of: filter)),
            let answer = StoredAnswer(record.bytes),
            let stored = try? JSONDecoder().decode(StoredList.self, from: answer.body)
        else { return nil }
        let records = try await store.records(for: stored.ids.map(key))
        let found = zip(stored.ids, records).compactMap { id, record in record.flatMap { entity(id, in: $0) } }
        guard found.count == stored.ids.count else { return nil }
        return Found(
            // An entity may have been kept anew since, and not belong into the list any more.
            value: EntityList(found.map(\.value).filter(filter.matches), rejected: stored.rejectedRecords),
            // One of them may be older than the list: who had asked for it before kept it behind the list, or another process did.
            age: found.map(\.age).max().map { max($0, age(of: answer)) } ?? age(of: answer),
            byteCount: found.reduce(0) { $0 + $1.byteCount }
        )
    }

    /// The entity in a record, if it is of this identity.
    private func entity(_ id: String, in record: StoredRecord) -> Found<Entity>? {
        guard let answer = StoredAnswer(record.bytes), let entity = try? endpoint.decodeOne(answer.body),
            String(describing: entity.id) == id
        else { return nil }
        return Found(value: entity, age: age(of: answer), byteCount: answer.body.count)
    }

    private func age(of answer: StoredAnswer) -> Duration {
        let seconds = now().timeIntervalSince(answer.time)
        // Where the time of day was set back, nobody knows how old it is: as old as anything that is kept, and not fresh.
        guard seconds >= 0 else { return max(endpoint.lifetimes.expiresAfter, endpoint.lifetimes.staleAfter) }
        // Whatever a damaged record says, a duration holds it.
        return .seconds(min(seconds, Self.longestAge))
    }
}

extension Duration {
    /// The duration in seconds.
    fileprivate var seconds: Double { self / .seconds(1) }
}

/// An answer as a store keeps it: when it was given, and what it says.
struct StoredAnswer {
    private static let version: UInt8 = 1
    private static let headLength = 9

    /// When it was asked for.
    let time: Date
    /// What it says.
    let body: Data

    init(time: Date, body: Data) {
        self.time = time
        self.body = body
    }

    /// Reads an answer; `nil` if it is none, or was written by another version of the program.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.headLength, bytes[0] == Self.version else { return nil }
        let bits = bytes[1..<Self.headLength].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        time = Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits))
        body = Data(bytes[Self.headLength...])
        guard time.timeIntervalSinceReferenceDate.isFinite else { return nil }
    }

    /// What a store is to keep.
    var bytes: [UInt8] {
        let bits = time.timeIntervalSinceReferenceDate.bitPattern
        return [Self.version] + (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) } + body
    }
}

/// A list as a store keeps it: the identities, whose entities are kept each by itself, and what was left out.
struct StoredList: Codable {
    private struct Rejected: Codable {
        let list: String
        let position: Int
        let field: String?
        let reason: String
    }

    /// The identities, as keys have them.
    let ids: [String]
    private let rejected: [Rejected]

    init(ids: [String], rejected: [RejectedRecord]) {
        self.ids = ids
        self.rejected = rejected.map {
            Rejected(list: $0.list, position: $0.position, field: $0.field, reason: $0.reason)
        }
    }

    /// The records that were left out of the list.
    var rejectedRecords: [RejectedRecord] {
        rejected.map { RejectedRecord(list: $0.list, position: $0.position, field: $0.field, reason: $0.reason) }
    }
}
