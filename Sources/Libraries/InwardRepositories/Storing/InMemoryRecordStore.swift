import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A store that keeps records in memory, for tests and for writes that need not outlive the process.
///
/// ```swift
/// let store = InMemoryRecordStore()
/// try await store.commit([.keep(StoredRecord([1, 2, 3]), ["numbers"])])
/// print(try await store.record(for: ["numbers"])?.bytes ?? [])  // [1, 2, 3]
/// ```
///
/// Records are lost when the store is deallocated. Without a limit, an expired record takes up memory until it is replaced or removed.
public final class InMemoryRecordStore: SharedRecordStore {
    /// Owns a key until it is deallocated.
    private final class Ownership: Sendable {
        private let key: RecordKey
        private let owned: ClaimedKeys

        init(_ key: RecordKey, in owned: ClaimedKeys) {
            self.key = key
            self.owned = owned
        }

        deinit { owned.keys.withLock { _ = $0.remove(key) } }
    }

    /// The keys that are claimed.
    private final class ClaimedKeys: Sendable {
        let keys = Mutex<Set<RecordKey>>([])
    }

    /// A record with its version and its last lease.
    private struct Entry: Sendable {
        let record: StoredRecord
        let version: RecordVersion
        /// The fencing token of the last lease, or 0 if there was none.
        var token: UInt64 = 0
        /// When the lease ended or ends.
        var freeSince: Date
    }

    private struct Contents: Sendable {
        /// The approximate memory of a record in addition to its bytes and its key.
        private static let overhead = 256

        private(set) var entries: [RecordKey: Entry] = [:]
        /// The approximate memory of all records.
        private(set) var byteCount = 0
        /// No record expires before.
        private var firstExpiry = Date.distantFuture
        /// The last version or fencing token.
        var lastNumber: UInt64 = 0

        mutating func nextNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }

        func entry(_ key: RecordKey, at time: Date) -> Entry? {
            entries[key].flatMap { $0.record.isExpired(at: time) ? nil : $0 }
        }

        mutating func keep(_ record: StoredRecord, under key: RecordKey, at time: Date) {
            let old = entry(key, at: time)
            remove(key)
            byteCount += Self.size(of: record, under: key)
            firstExpiry = min(firstExpiry, record.expiry ?? .distantFuture)
            entries[key] = Entry(
                record: record,
                version: RecordVersion(nextNumber()),
                token: old?.token ?? 0,
                freeSince: old?.freeSince ?? time
            )
        }

        mutating func remove(_ key: RecordKey) {
            guard let entry = entries.removeValue(forKey: key) else { return }
            byteCount -= Self.size(of: entry.record, under: key)
        }

        mutating func removeAll(where isRemoved: (RecordKey, StoredRecord) -> Bool) {
            for (key, entry) in entries where isRemoved(key, entry.record) { remove(key) }
        }

        /// Sets the fencing token of a record, and when it is free again.
        mutating func lease(_ key: RecordKey, token: UInt64, until end: Date) {
            entries[key]?.token = token
            entries[key]?.freeSince = end
        }

        mutating func extendLease(_ key: RecordKey, until end: Date) { entries[key]?.freeSince = end }

        mutating func removeExpired(at time: Date) {
            guard firstExpiry <= time else { return }
            removeAll { $1.isExpired(at: time) }
            firstExpiry = entries.values.lazy.compactMap(\.record.expiry).min() ?? .distantFuture
        }

        /// Returns the number of bytes by which changes increase the memory, or decrease it if it is negative.
        func growth(by changes: [RecordChange]) -> Int {
            // After the changes so far, of the records that they concern.
            var sizes: [RecordKey: Int] = [:]
            for change in changes {
                switch change {
                case .keep(let record, let key): sizes[key] = Self.size(of: record, under: key)
                case .remove(let key): sizes[key] = 0
                case .removeAll(let key):
                    for other in Array(sizes.keys) + Array(entries.keys) where key.contains(other) { sizes[other] = 0 }
                case .announce: break
                }
            }
            return sizes.reduce(0) { sum, changed in
                let old = entries[changed.key].map { Self.size(of: $0.record, under: changed.key) } ?? 0
                return sum + changed.value - old
            }
        }

        private static func size(of record: StoredRecord, under key: RecordKey) -> Int {
            key.components.reduce(record.bytes.count + overhead) { $0 + $1.utf8.count }
        }

        func isMet(_ condition: RecordCondition, at time: Date) -> Bool {
            switch condition {
            case .isAbsent(let key): entry(key, at: time) == nil
            case .hasVersion(let version, let key): entry(key, at: time)?.version == version
            case .isLeased(let lease): lease.token > 0 && entry(lease.key, at: time)?.token == lease.token
            }
        }
    }

    private let claimed = ClaimedKeys()
    private let contents = Mutex(Contents())
    private let hub = RecordAnnouncementHub()
    private let byteLimit: Int?
    private let now: @Sendable () -> Date

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - byteLimit: The approximate memory for records, in bytes. A commit beyond it removes what has expired, and if that is not enough,
    ///     fails with the reason `full`. `nil` for no limit.
    ///   - now: Returns the current time, by which records expire.
    public init(byteLimit: Int? = nil, now: @escaping @Sendable () -> Date = { Date() }) {
        self.byteLimit = byteLimit
        self.now = now
    }

    deinit { hub.close() }

    /// Returns the record under a key, or `nil` if there is none or it has expired.
    ///
    /// - Complexity: O(1).
    /// - Throws: a ``RecordStoreError`` if the task was already cancelled.
    public func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        try Self.throwIfCancelled()
        let time = now()
        return contents.withLock { $0.entry(key, at: time)?.record }
    }

    /// Returns the records whose keys equal a key or begin with it, in key order.
    ///
    /// - Complexity: O(n) in the number of records in the store, plus O(m log m) in the number of returned records.
    /// - Throws: a ``RecordStoreError`` if the task was already cancelled.
    public func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try Self.throwIfCancelled()
        let time = now()
        return contents.withLock { contents in
            contents.entries.filter { key.contains($0.key) && !$0.value.record.isExpired(at: time) }
        }
        .sorted { $0.key < $1.key }
        .map { (key: $0.key, record: $0.value.record) }
    }

    /// Returns the records under several keys with their versions.
    ///
    /// - Complexity: O(n) in the number of keys.
    /// - Throws: a ``RecordStoreError`` if the task was already cancelled.
    public func snapshots(for keys: [RecordKey]) async throws(RecordStoreError) -> [RecordSnapshot?] {
        try Self.throwIfCancelled()
        let time = now()
        return contents.withLock { contents in
            keys.map { key in
                contents.entry(key, at: time).map { RecordSnapshot($0.record, under: key, version: $0.version) }
            }
        }
    }

    /// Returns no losses: memory does not lose records.
    ///
    /// - Throws: a ``RecordStoreError`` if the task was already cancelled.
    public func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses {
        try Self.throwIfCancelled()
        return RecordLosses()
    }

    /// Makes changes in order, all of them or none.
    ///
    /// - Complexity: O(n) in the number of changes. A change that removes everything under a key is linear in the number of
    ///   records.
    /// - Throws: a ``RecordStoreError`` if the task was already cancelled.
    public func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        try await commit(changes, if: [])
    }

    /// Makes changes in order, all of them or none, if all conditions are met.
    ///
    /// - Complexity: That of ``commit(_:)``, plus O(n) in the number of conditions.
    /// - Throws: a ``RecordStoreError``: `conflict` if a condition is not met, `full` if the store has a limit and too many records,
    ///   `cancelled` if the task was already cancelled.
    public func commit(
        _ changes: [RecordChange],
        if conditions: [RecordCondition]
    ) async throws(RecordStoreError) {
        try Self.throwIfCancelled()
        let time = now()
        try contents.withLock { contents throws(RecordStoreError) in
            if let condition = conditions.first(where: { !contents.isMet($0, at: time) }) { throw .conflict(condition) }
            try makeRoom(for: changes, in: &contents, at: time)
            for change in changes {
                switch change {
                case .keep(let record, let key): contents.keep(record, under: key, at: time)
                case .remove(let key): contents.remove(key)
                case .removeAll(let key): contents.removeAll { other, _ in key.contains(other) }
                case .announce: break
                }
            }
        }
        hub.announce(in: changes)
    }

    private func makeRoom(
        for changes: [RecordChange],
        in contents: inout Contents,
        at time: Date
    ) throws(RecordStoreError) {
        guard let byteLimit else { return }
        let growth = contents.growth(by: changes)
        guard growth > 0, contents.byteCount + growth > byteLimit else { return }
        contents.removeExpired(at: time)
        guard contents.byteCount + contents.growth(by: changes) > byteLimit else { return }
        throw RecordStoreError(
            .full,
            explanation:
                "The records in memory would take up more than \(byteLimit) bytes. Wait until some have expired or are removed."
        )
    }

    /// Leases free records.
    ///
    /// - Complexity: O(n log n) in the number of records in the store.
    /// - Throws: a ``RecordStoreError`` if the task was already cancelled.
    public func lease(
        under key: RecordKey,
        limit: Int,
        for duration: Duration
    ) async throws(RecordStoreError) -> [(lease: RecordLease, snapshot: RecordSnapshot)] {
        try Self.throwIfCancelled()
        let time = now()
        return contents.withLock { contents in
            let free = contents.entries
                .filter {
                    key.contains($0.key) && !$0.value.record.isExpired(at: time)
                        && ($0.value.token == 0 || $0.value.freeSince <= time)
                }
                .sorted { ($0.value.freeSince, $0.value.token, $0.key) < ($1.value.freeSince, $1.value.token, $1.key) }
            return free.prefix(max(0, limit)).map { key, entry in
                let token = contents.nextNumber()
                contents.lease(key, token: token, until: time.addingTimeInterval(duration / .seconds(1)))
                return (
                    RecordLease(key, token: token), RecordSnapshot(entry.record, under: key, version: entry.version)
                )
            }
        }
    }

    /// Lets a lease last for a duration from now.
    ///
    /// - Complexity: O(1).
    /// - Throws: a ``RecordStoreError`` if the task was already cancelled.
    public func extend(_ lease: RecordLease, for duration: Duration) async throws(RecordStoreError) -> Bool {
        try Self.throwIfCancelled()
        let time = now()
        return contents.withLock { contents in
            guard contents.isMet(.isLeased(lease), at: time) else { return false }
            contents.extendLease(lease.key, until: time.addingTimeInterval(duration / .seconds(1)))
            return true
        }
    }

    /// Returns what the commits of this store announce about a key.
    public func announcements(under key: RecordKey) -> RecordAnnouncements { hub.announcements(under: key) }

    /// Tries to claim a key, without waiting.
    ///
    /// - Complexity: O(1).
    /// - Throws: a ``RecordStoreError`` if the task was already cancelled.
    public func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult {
        try Self.throwIfCancelled()
        guard claimed.keys.withLock({ $0.insert(key).inserted }) else {
            return .owned(by: "another part of this process")
        }
        let ownership = Ownership(key, in: claimed)
        // A claim that is released drops what it captures.
        return .claimed(RecordClaim { withExtendedLifetime(ownership) {} })
    }

    private static func throwIfCancelled() throws(RecordStoreError) {
        guard !Task.isCancelled else {
            throw RecordStoreError(.cancelled, explanation: "The task was cancelled before the store was asked.")
        }
    }
}
