/// A record store for several instances of a service, with conditional commits, leases and announcements.
///
/// ```swift
/// func count(_ page: String, in store: any SharedRecordStore) async throws {
///     let key: RecordKey = ["visits", page]
///     while true {
///         let old = try await store.snapshot(for: key)
///         let visits = (old.map { Int(String(decoding: $0.record.bytes, as: UTF8.self)) } ?? 0) ?? 0
///         do {
///             let new = StoredRecord(Array(String(visits + 1).utf8))
///             return try await store.commit([.keep(new, key)], if: [.isUnchanged(key, since: old)])
///         } catch where error.reason == .conflict {}  // another instance was faster
///     }
/// }
/// ```
///
/// All operations are linearizable: each takes effect at one moment between its call and its return, for all instances alike. `SharedRecordStoreConformance` in `InwardTesting` verifies the requirements.
public protocol SharedRecordStore: RecordStore {
    /// Returns the records under several keys with their versions, in the order of the keys, with `nil` for each key without a
    /// record. All are read at the same moment.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot tell.
    func snapshots(for keys: [RecordKey]) async throws(RecordStoreError) -> [RecordSnapshot?]

    /// Makes changes in order, all of them or none, if all conditions are met at that moment.
    ///
    /// - Throws: a ``RecordStoreError`` as ``RecordStore/commit(_:)``, and one with the reason `conflict` if a condition is not
    ///   met. Then nothing was changed.
    func commit(_ changes: [RecordChange], if conditions: [RecordCondition]) async throws(RecordStoreError)

    /// Leases free records, in the order in which their last leases ended. A record is free if it was never leased, or if its
    /// last lease has ended, by the store's clock.
    ///
    /// A record keeps its lease and its place in this order when it is kept again. The lease ends when the record is removed or
    /// expires, even if the same commit creates another one.
    ///
    /// - Parameters:
    ///   - key: The key of a record, or a prefix of the keys of several.
    ///   - limit: The maximum number of records.
    ///   - duration: How long the leases last.
    /// - Returns: the leases and the records. The list can be empty while records are free, because another instance is leasing or
    ///   changing them.
    /// - Throws: a ``RecordStoreError``. Then a record may stay leased, as if its holder had died.
    func lease(
        under key: RecordKey,
        limit: Int,
        for duration: Duration
    ) async throws(RecordStoreError) -> [(lease: RecordLease, snapshot: RecordSnapshot)]

    /// Sets the end of a lease to a duration from now, by the store's clock. A duration of zero frees the record, and a long one
    /// postpones its next lease. Until somebody else leases the record, the lease can be extended, and ``RecordCondition/isLeased(_:)``
    /// is met.
    ///
    /// - Returns: whether the lease was still the last one of its record. If not, nothing was changed.
    /// - Throws: a ``RecordStoreError`` if the store cannot be changed.
    func extend(_ lease: RecordLease, for duration: Duration) async throws(RecordStoreError) -> Bool

    /// Returns what commits announce with ``RecordChange/announce(_:)`` about a key: about the key itself, keys that begin with it,
    /// and prefixes of it.
    ///
    /// ```swift
    /// func rename(_ user: RecordKey, to name: String, in store: any SharedRecordStore) async throws {
    ///     try await store.commit([.keep(StoredRecord(Array(name.utf8)), user), .announce(user)])
    /// }
    ///
    /// func followUsers(in store: any SharedRecordStore) async {
    ///     for await announcement in store.announcements(under: ["users"]) { print(announcement) }
    /// }
    /// ```
    ///
    /// Each commit that begins after this call is reported, or an ``RecordAnnouncement/anythingMayHaveChanged`` after it. A commit
    /// that fails is not announced, unless its outcome is unknown. Each implementation documents which instances its announcements
    /// reach.
    func announcements(under key: RecordKey) -> RecordAnnouncements
}

extension SharedRecordStore {
    /// Returns the record under a key with its version, or `nil` if there is none.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot tell.
    public func snapshot(for key: RecordKey) async throws(RecordStoreError) -> RecordSnapshot? {
        try await snapshots(for: [key]).first.flatMap(\.self)
    }
}

/// A number that a store gives to a record whenever the record is kept.
///
/// ```swift
/// func hasChanged(_ old: RecordSnapshot, under key: RecordKey, in store: any SharedRecordStore) async throws -> Bool {
///     try await store.snapshot(for: key)?.version != old.version
/// }
/// ```
///
/// Versions of a store grow: a record has a greater version than every record that was kept before it, even if it has the same
/// bytes. They say nothing about the records of other stores.
public struct RecordVersion: Hashable, Comparable, Sendable {
    /// The number. 0 is the version of records that an older program kept.
    public let number: UInt64

    /// Creates a version. Only implementations of ``SharedRecordStore`` call this.
    public init(_ number: UInt64) {
        self.number = number
    }

    /// Returns whether a version is older than another.
    public static func < (first: RecordVersion, second: RecordVersion) -> Bool { first.number < second.number }
}

/// A record as it was at some moment.
///
/// ```swift
/// func rename(_ user: RecordKey, to name: String, in store: any SharedRecordStore) async throws {
///     guard let old = try await store.snapshot(for: user) else { return }
///     try await store.commit([.keep(StoredRecord(Array(name.utf8)), user)], if: [.isUnchanged(user, since: old)])
/// }
/// ```
public struct RecordSnapshot: Hashable, Sendable {
    /// The key of the record.
    public let key: RecordKey
    /// The record.
    public let record: StoredRecord
    /// The version of the record.
    public let version: RecordVersion

    /// Creates a snapshot.
    public init(_ record: StoredRecord, under key: RecordKey, version: RecordVersion) {
        self.record = record
        self.key = key
        self.version = version
    }
}

/// A condition for a commit.
///
/// ```swift
/// func create(_ user: StoredRecord, named name: String, in store: any SharedRecordStore) async throws {
///     try await store.commit([.keep(user, ["users", name])], if: [.isAbsent(["users", name])])
/// }
/// ```
public enum RecordCondition: Hashable, Sendable {
    /// No record is stored under the key. One that has expired counts as absent.
    case isAbsent(RecordKey)
    /// The record under the key has the version.
    case hasVersion(RecordVersion, RecordKey)
    /// The lease is the last one of its record, even if its time is over. It ends when the record is removed or expires.
    case isLeased(RecordLease)

    /// The record under a key is as it was in a snapshot, or is still absent if the snapshot is `nil`.
    public static func isUnchanged(_ key: RecordKey, since snapshot: RecordSnapshot?) -> RecordCondition {
        snapshot.map { .hasVersion($0.version, key) } ?? .isAbsent(key)
    }
}

/// The right to work on a record for a limited time.
///
/// ```swift
/// func work(on jobs: any SharedRecordStore) async throws {
///     while let (lease, job) = try await jobs.lease(under: ["jobs"], limit: 1, for: .seconds(30)).first {
///         print(String(decoding: job.record.bytes, as: UTF8.self))
///         try await jobs.commit([.remove(lease.key)], if: [.isLeased(lease)])
///     }
/// }
/// ```
///
/// When its time is over, another instance can lease the record. If an instance was suspended meanwhile, its next commit with
/// ``RecordCondition/isLeased(_:)`` fails.
public struct RecordLease: Hashable, Sendable {
    /// The key of the record.
    public let key: RecordKey
    /// The fencing token. It is greater than the tokens of all earlier leases of the record, also after the record was removed
    /// and created again. Send it to systems that can refuse an older one.
    public let token: UInt64

    /// Creates a lease. Only implementations of ``SharedRecordStore`` call this.
    public init(_ key: RecordKey, token: UInt64) {
        self.key = key
        self.token = token
    }
}

extension RecordStoreError {
    /// The error of a commit whose condition is not met.
    package static func conflict(_ condition: RecordCondition) -> RecordStoreError {
        let finding =
            switch condition {
            case .isAbsent(let key): "A record under \(key) exists."
            case .hasVersion(_, let key): "The record under \(key) has changed, or was removed."
            case .isLeased(let lease):
                "\(lease.key) is no longer leased: it was leased again or removed, or it has expired."
            }
        return RecordStoreError(
            .conflict,
            explanation: "\(finding) Nothing was changed. Read the record, and decide again."
        )
    }
}
