import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The persistent cache of a repository. It stores each entity under its identifier, and each list as a list of identifiers.
struct EntityStore<Entity: Identifiable & Sendable>: Sendable where Entity.ID: Sendable & LosslessStringConvertible {
    /// A stored value and its age.
    struct Found<Value> {
        let value: Value
        /// The time of the request.
        let time: Date
        let age: Duration
        /// The stored size in bytes.
        let byteCount: Int
        /// The validator of the response, if the value is the complete response.
        var validator: Validator?
    }

    /// 300 years, in seconds.
    private static var longestAge: Double { 1e10 }

    private let endpoint: Endpoint<Entity>
    private let store: any RecordStore
    private let prefix: RecordKey
    /// Where the identifiers of created entities are, if other instances may ask for them. Emptying the cache keeps them.
    private let identities: RecordKey?
    private let now: @Sendable () -> Date
    /// Returns the changes that announce to other instances that something under a key has changed.
    private let announce: @Sendable (RecordKey) -> [RecordChange]
    /// Whether several instances of a service use the store.
    let isShared: Bool
    let report: @Sendable (RecordStoreError) -> Void
    let writer: StoreWriter

    init(_ endpoint: Endpoint<Entity>, in place: RepositoryStore, executor: (any TaskExecutor)? = nil) {
        self.endpoint = endpoint
        store = place.records
        isShared = place.peers?.isStoreShared == true
        let sharedStore = isShared ? place.records as? any SharedRecordStore : nil
        if isShared, sharedStore == nil {
            place.reportFailure(
                RecordStoreError(
                    .unavailable,
                    explanation: """
                        The store of \(endpoint.name) is not a SharedRecordStore, although its peers share one. Responses are not stored.
                        """
                )
            )
        }
        prefix = place.partition.appending(endpoint.name)
        identities =
            isShared && endpoint.creation != nil
            ? RecordKey(["created"] + prefix.components) : nil
        now = place.now
        report = place.reportFailure
        let announce = { @Sendable [prefix, now, peers = place.peers] key in
            guard let change = peers?.announcement(of: key, in: prefix) else { return [RecordChange]() }
            return [change, CacheGeneration.next(under: prefix, at: now())]
        }
        self.announce = announce
        writer = StoreWriter(
            store,
            under: prefix,
            isShared: isShared,
            sharedStore,
            announcing: { announce([]) },
            executor: executor,
            report: report
        )
    }

    private var lists: RecordKey { prefix.appending("lists") }

    private func key(of id: String) -> RecordKey { prefix.appending("one").appending(id) }

    private func key(of filter: EntityFilter<Entity>) -> RecordKey {
        // A path adds one component, and each query field adds two, so their keys never collide.
        let list = filter.path.map { lists.appending("/" + $0.joined(separator: "/")) } ?? lists
        return filter.fields.reduce(list) { $0.appending($1.name).appending($1.value) }
    }

    // MARK: Changes

    /// Returns the change that stores an entity of some age.
    func keep(_ entity: Entity, age: Duration, _ validator: Validator? = nil) -> RecordChange {
        keep(entity, at: time(of: age), validator)
    }

    /// Returns the changes that store the entities of a response, and their list unless it is `nil`. All records have the same
    /// time, which marks them as parts of one response.
    func keep(
        _ entities: [Entity],
        in list: EntityList<Entity>?,
        of filter: EntityFilter<Entity>,
        age: Duration,
        _ validator: Validator?
    ) -> [RecordChange] {
        let time = time(of: age)
        var changes = entities.map { keep($0, at: time) }
        if let list { changes.append(keep(list, of: filter, at: time, validator)) }
        return changes
    }

    /// Returns the change that stores a list of some age, without its entities.
    func keep(_ list: EntityList<Entity>, of filter: EntityFilter<Entity>, age: Duration) -> RecordChange {
        keep(list, of: filter, at: time(of: age))
    }

    private func keep(_ entity: Entity, at time: Date, _ validator: Validator? = nil) -> RecordChange {
        let key = key(of: entity.id.description)
        // An entity that cannot be encoded is not stored.
        guard let body = try? endpoint.encode(entity) else { return .remove(key) }
        return keep(body, at: time, under: key, validator)
    }

    private func keep(
        _ list: EntityList<Entity>,
        of filter: EntityFilter<Entity>,
        at time: Date,
        _ validator: Validator? = nil
    ) -> RecordChange {
        let stored = StoredList(ids: list.entities.map(\.id.description), rejected: list.rejected)
        guard let body = try? JSONEncoder().encode(stored) else { return .remove(key(of: filter)) }
        return keep(body, at: time, under: key(of: filter), validator)
    }

    /// Returns the change that removes an entity.
    func remove(_ id: Entity.ID) -> RecordChange { .remove(key(of: id.description)) }

    /// The change that removes every list.
    var removeLists: RecordChange { .removeAll(lists) }

    /// The change that removes all records of the repository.
    var removeAll: RecordChange { .removeAll(prefix) }

    /// Returns the changes of a write that was sent without an outbox. Other instances may have sent later ones, whose order is not
    /// known, so a store that they share does not keep the entity.
    func written(_ entity: Entity, _ validator: Validator?) -> [RecordChange] {
        [isShared ? remove(entity.id) : keep(entity, age: .zero, validator), removeLists]
    }

    /// Returns the changes that announce to other instances that something under a key has changed. Returns no change if there
    /// is one instance.
    func announcement(of key: RecordKey) -> [RecordChange] { announce(key) }

    /// The change that keeps responses to earlier requests from being stored. Empty if there is only one instance.
    var nextGeneration: [RecordChange] { isShared ? [CacheGeneration.next(under: prefix, at: now())] : [] }

    /// Returns the time since the last change of a generation, or `nil` if it is not known.
    func age(of generation: CacheGeneration) -> Duration? {
        generation.time.map { .seconds(max(0, now().timeIntervalSince($0))) }
    }

    /// Returns the request time of a value of some age.
    private func time(of age: Duration) -> Date { now().addingTimeInterval(-age.seconds) }

    private func keep(_ body: Data, at time: Date, under key: RecordKey, _ validator: Validator?) -> RecordChange {
        let expiry = time.addingTimeInterval(endpoint.lifetimes.expiresAfter.seconds)
        return .keep(
            StoredRecord(StoredAnswer(time: time, validator: validator, body: body).bytes, expiry: expiry),
            key
        )
    }

    // MARK: Identifiers of created entities

    /// How long other instances can find an entity by its pending identifier after its creation.
    private static var identityLifetime: TimeInterval { 7 * 86_400 }

    /// Returns the change that tells other instances which identifier the upstream has given to an entity. Returns no change if
    /// there is one instance.
    func keepIdentity(_ id: Entity.ID, of pendingID: Entity.ID) -> [RecordChange] {
        guard let identities else { return [] }
        let record = StoredRecord(
            Array(id.description.utf8),
            expiry: now().addingTimeInterval(Self.identityLifetime)
        )
        return [.keep(record, identities.appending(pendingID.description))]
    }

    /// Whether other instances may have delivered the creation of an entity.
    var hasIdentities: Bool { identities != nil }

    /// Returns the identifier that the upstream has given to an entity with a pending one, or `nil` if no instance has delivered
    /// its creation.
    ///
    /// - Throws: a ``RecordStoreError`` if the store fails.
    func identity(of pendingID: Entity.ID) async throws(RecordStoreError) -> Entity.ID? {
        guard let identities else { return nil }
        return try await store.record(for: identities.appending(pendingID.description))
            .flatMap { String(validating: $0.bytes, as: UTF8.self) }.flatMap { Entity.ID($0) }
    }

    // MARK: Answers

    /// Returns the stored entity with an identifier, or `nil` if there is none.
    ///
    /// - Throws: a ``RecordStoreError`` if the store fails.
    func entity(_ id: Entity.ID) async throws(RecordStoreError) -> Found<Entity>? {
        await writer.flush()
        guard !writer.isOutdated else { return nil }
        let name = id.description
        return try await store.record(for: key(of: name)).flatMap { entity(name, in: $0) }
    }

    /// Returns the stored list of a filter, or `nil` if the list or any of its entities is missing.
    ///
    /// - Throws: a ``RecordStoreError`` if the store fails.
    func list(_ filter: EntityFilter<Entity>) async throws(RecordStoreError) -> Found<EntityList<Entity>>? {
        await writer.flush()
        guard !writer.isOutdated, let record = try await store.record(for: key(of: filter)),
            let answer = StoredAnswer(record.bytes),
            let stored = try? StoredList.decoded(from: answer.body)
        else { return nil }
        let records = try await store.records(for: stored.ids.map(key))
        let found = zip(stored.ids, records).compactMap { id, record in record.flatMap { entity(id, in: $0) } }
        guard found.count == stored.ids.count else { return nil }
        // An entity that was stored again later may differ from the one in the response, and may no longer belong in the list.
        let isAsFetched = found.allSatisfy { $0.time == answer.time }
        return Found(
            value: EntityList(found.map(\.value).filter(filter.matches), rejected: stored.rejectedRecords),
            time: answer.time,
            // The list is as old as its oldest entity: an earlier request or another process may have stored an older version
            // later.
            age: found.map(\.age).max().map { max($0, age(of: answer)) } ?? age(of: answer),
            byteCount: found.reduce(0) { $0 + $1.byteCount },
            validator: isAsFetched ? answer.validator : nil
        )
    }

    /// Returns the entity in a record, or `nil` if the record is damaged or has another identifier.
    private func entity(_ id: String, in record: StoredRecord) -> Found<Entity>? {
        guard let answer = StoredAnswer(record.bytes), let entity = try? endpoint.decodeStored(answer.body),
            entity.id.description == id
        else { return nil }
        return Found(
            value: entity,
            time: answer.time,
            age: age(of: answer),
            byteCount: answer.body.count,
            validator: answer.validator
        )
    }

    private func age(of answer: StoredAnswer) -> Duration {
        let seconds = now().timeIntervalSince(answer.time)
        // If the clock was set back, the age is not known. Assume the maximum age, so that the value counts as stale.
        guard seconds >= 0 else { return max(endpoint.lifetimes.expiresAfter, endpoint.lifetimes.staleAfter) }
        // A damaged record may contain any time. The limit prevents an overflow.
        return .seconds(min(seconds, Self.longestAge))
    }
}

extension Duration {
    /// The duration in seconds.
    fileprivate var seconds: Double { self / .seconds(1) }
}

/// The stored form of a response: its request time, its validator and its contents.
///
/// The first byte is the version of the format, and the next eight are the time. Version 2 adds the length of the validator in
/// two bytes, and the validator. A response without a validator is stored in version 1, which earlier versions of the program
/// can read.
struct StoredAnswer {
    private static let headLength = 9
    private static let longestValidator = 1_024

    /// The time of the request.
    let time: Date
    /// The validator, or `nil` for none.
    let validator: Validator?
    /// The contents.
    let body: Data

    /// Creates the stored form. Drops a validator of more than 1 KiB.
    init(time: Date, validator: Validator? = nil, body: Data) {
        self.time = time
        self.validator = validator.flatMap { (1...Self.longestValidator).contains($0.text.utf8.count) ? $0 : nil }
        self.body = body
    }

    /// Decodes a response. Returns `nil` if the bytes are not valid or have a newer format.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.headLength, (1...2).contains(bytes[0]) else { return nil }
        let bits = bytes[1..<Self.headLength].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        time = Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits))
        guard time.timeIntervalSinceReferenceDate.isFinite else { return nil }
        var rest = bytes[Self.headLength...]
        guard bytes[0] == 2 else {
            (validator, body) = (nil, Data(rest))
            return
        }
        guard let high = rest.popFirst(), let low = rest.popFirst() else { return nil }
        let length = Int(high) << 8 | Int(low)
        guard (1...min(Self.longestValidator, max(1, rest.count))).contains(length), rest.count >= length else {
            return nil
        }
        guard let text = String(validating: rest.prefix(length), as: UTF8.self) else { return nil }
        validator = Validator(text: text)
        body = Data(rest.dropFirst(length))
    }

    /// The encoded response.
    var bytes: [UInt8] {
        let bits = time.timeIntervalSinceReferenceDate.bitPattern
        let timeBytes = (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) }
        guard let text = validator?.text else { return [1] + timeBytes + body }
        let length = text.utf8.count
        return [2] + timeBytes + [UInt8(length >> 8), UInt8(length & 0xFF)] + text.utf8 + body
    }
}

/// The stored form of a list: the identifiers of its entities, which are stored individually, and the rejected records.
struct StoredList: Codable {
    private struct Rejected: Codable {
        let list: String
        let position: Int
        let field: String?
        let reason: String
    }

    /// The identifiers, as they appear in keys.
    let ids: [String]
    private let rejected: [Rejected]

    init(ids: [String], rejected: [RejectedRecord]) {
        self.ids = ids
        self.rejected = rejected.map {
            Rejected(list: $0.list, position: $0.position, field: $0.field, reason: $0.reason)
        }
    }

    /// The records that were rejected from the list.
    var rejectedRecords: [RejectedRecord] {
        rejected.map { RejectedRecord(list: $0.list, position: $0.position, field: $0.field, reason: $0.reason) }
    }
}
