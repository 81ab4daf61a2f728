#if !PostgreSQL
public import InwardRepositories

/// A record store in a PostgreSQL database. Available when the package trait `PostgreSQL` is enabled.
///
/// Without the trait, this placeholder makes the compiler name the trait to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait PostgreSQL of the package: .package(url: …, from: …, traits: [\"PostgreSQL\"])"
)
public final class PostgreSQLRecordStore: SharedRecordStore {
    /// Accepts the same arguments as the real store.
    public init(
        _ connectionString: String,
        connectionLimit: Int = 8,
        timeLimit: Duration = .seconds(30),
        connectionTimeLimit: Duration = .seconds(1)
    ) {}

    /// Does nothing.
    public func close() {}

    /// Always fails.
    ///
    /// - Throws: A `RecordStoreError` with the reason `closed`.
    public func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? { throw Self.missing }

    /// Always fails.
    ///
    /// - Throws: A `RecordStoreError` with the reason `closed`.
    public func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] { throw Self.missing }

    /// Always fails.
    ///
    /// - Throws: A `RecordStoreError` with the reason `closed`.
    public func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses { throw Self.missing }

    /// Always fails.
    ///
    /// - Throws: A `RecordStoreError` with the reason `closed`.
    public func commit(_ changes: [RecordChange]) async throws(RecordStoreError) { throw Self.missing }

    /// Always fails.
    ///
    /// - Throws: A `RecordStoreError` with the reason `closed`.
    public func snapshots(for keys: [RecordKey]) async throws(RecordStoreError) -> [RecordSnapshot?] {
        throw Self.missing
    }

    /// Always fails.
    ///
    /// - Throws: A `RecordStoreError` with the reason `closed`.
    public func commit(
        _ changes: [RecordChange],
        if conditions: [RecordCondition]
    ) async throws(RecordStoreError) { throw Self.missing }

    /// Always fails.
    ///
    /// - Throws: A `RecordStoreError` with the reason `closed`.
    public func lease(
        under key: RecordKey,
        limit: Int,
        for duration: Duration
    ) async throws(RecordStoreError) -> [(lease: RecordLease, snapshot: RecordSnapshot)] { throw Self.missing }

    /// Always fails.
    ///
    /// - Throws: A `RecordStoreError` with the reason `closed`.
    public func extend(_ lease: RecordLease, for duration: Duration) async throws(RecordStoreError) -> Bool {
        throw Self.missing
    }

    /// Always fails.
    ///
    /// - Throws: A `RecordStoreError` with the reason `closed`.
    public func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult { throw Self.missing }

    /// Returns announcements that have ended.
    public func announcements(under key: RecordKey) -> RecordAnnouncements {
        RecordAnnouncementHub().announcements(under: key)
    }

    private static var missing: RecordStoreError {
        RecordStoreError(
            .closed,
            explanation: "The package trait PostgreSQL is not enabled. Enable it, and build again."
        )
    }
}
#endif
