import InwardRecordDirectories
public import InwardRepositories

extension FileRecordStore {
    /// Returns the records for several keys, in the order of the keys, with `nil` for each key without a record. All are read at
    /// the same moment.
    ///
    /// - Throws: A `RecordStoreError` if the directory cannot be read, or if the task is cancelled or its deadline passes
    ///   first.
    /// - Complexity: O(*m* log *n*) for *m* keys and *n* records in the store.
    public func records(for keys: [RecordKey]) async throws(RecordStoreError) -> [StoredRecord?] {
        try await snapshots(for: keys).map { $0?.record }
    }

    /// Returns the records for several keys with their versions, in the order of the keys, with `nil` for each key without a
    /// record. All are read at the same moment.
    ///
    /// - Throws: A `RecordStoreError` if the directory cannot be read, or if the task is cancelled or its deadline passes
    ///   first.
    /// - Complexity: O(*m* log *n*) for *m* keys and *n* records in the store.
    public func snapshots(for keys: [RecordKey]) async throws(RecordStoreError) -> [RecordSnapshot?] {
        try await reads.read { [log] () throws(RecordStoreError) in try log.snapshots(for: keys) }
    }

    /// Returns a page of the records whose keys begin with a key, in key order. The store reads only the records of the page.
    ///
    /// - Throws: A `RecordStoreError` if the directory cannot be read, or if the task is cancelled or its deadline passes
    ///   first.
    /// - Complexity: O(*m* + log *n*) for *m* records in the page, plus expired ones, and *n* records in the store.
    public func records(
        under key: RecordKey,
        after last: RecordKey?,
        limit: Int
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try await reads.read { [log] () throws(RecordStoreError) in
            try log.records(under: key, after: last, limit: limit)
        }
    }

    /// Applies all changes in order, if all conditions are met, and flushes them to the disk before it returns. If it throws, it
    /// has changed nothing.
    ///
    /// The store judges the conditions when no other process can change the records. Commits still share a flush: one whose
    /// condition is not met does not affect the others.
    ///
    /// - Throws: A `RecordStoreError` with the reason `conflict` if a condition is not met, and otherwise as ``commit(_:)``.
    public func commit(
        _ changes: [RecordChange],
        if conditions: [RecordCondition]
    ) async throws(RecordStoreError) {
        try await commits.commit(changes, if: conditions)
        hub.announce(in: changes)
    }

    /// Returns what the commits of this store announce about a key. The commits of other stores in the directory are not announced.
    public func announcements(under key: RecordKey) -> RecordAnnouncements { hub.announcements(under: key) }

    /// Leases free records, in the order in which their last leases ended. The leases have been flushed to the disk when the
    /// call returns.
    ///
    /// Leases wait for the commits before them, and each call needs a flush of its own. Lease several records at a time.
    ///
    /// - Throws: A `RecordStoreError` as ``commit(_:)``.
    /// - Complexity: O(*n* log *m*) for *n* records under the key and *m* leases. The store reads only the leased records from the
    ///   disk.
    public func lease(
        under key: RecordKey,
        limit: Int,
        for duration: Duration
    ) async throws(RecordStoreError) -> [(lease: RecordLease, snapshot: RecordSnapshot)] {
        try await commits.change { [log] () throws(RecordStoreError) in
            try log.lease(under: key, limit: limit, for: duration)
        }
    }

    /// Sets the end of a lease to a duration from now. The new end has been flushed to the disk when the call returns.
    ///
    /// - Throws: A `RecordStoreError` as ``commit(_:)``.
    /// - Complexity: O(log *n*) for *n* records in the store.
    public func extend(_ lease: RecordLease, for duration: Duration) async throws(RecordStoreError) -> Bool {
        try await commits.change { [log] () throws(RecordStoreError) in try log.extend(lease, for: duration) }
    }
}
