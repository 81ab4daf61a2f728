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
/// Records are lost when the store is deallocated. The size is not limited, and an expired record takes up memory until it is
/// replaced or removed.
public final class InMemoryRecordStore: RecordStore {
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

    private let claimed = ClaimedKeys()
    private let records = Mutex<[RecordKey: StoredRecord]>([:])
    private let now: @Sendable () -> Date

    /// Creates an empty store.
    ///
    /// - Parameter now: Returns the current time, by which records expire.
    public init(now: @escaping @Sendable () -> Date = { Date() }) {
        self.now = now
    }

    /// Returns the record under a key, or `nil` if there is none or it has expired.
    ///
    /// - Complexity: O(1).
    /// - Throws: a ``RecordStoreError`` if the task was already cancelled.
    public func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        try Self.throwIfCancelled()
        let time = now()
        return records.withLock { $0[key] }.flatMap { $0.isExpired(at: time) ? nil : $0 }
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
        return records.withLock { records in
            records.filter { key.contains($0.key) && !$0.value.isExpired(at: time) }
        }
        .sorted { $0.key < $1.key }
        .map { (key: $0.key, record: $0.value) }
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
        try Self.throwIfCancelled()
        records.withLock { records in
            for change in changes {
                switch change {
                case .keep(let record, let key): records[key] = record
                case .remove(let key): records[key] = nil
                case .removeAll(let key): records = records.filter { !key.contains($0.key) }
                }
            }
        }
    }

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
