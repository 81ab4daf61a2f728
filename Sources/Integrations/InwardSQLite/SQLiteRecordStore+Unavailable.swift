#if !SQLite
public import Foundation
import InwardRecordDirectories
public import InwardRepositories

/// A record store in an SQLite database. Available when the package trait `SQLite` is enabled.
///
/// Without the trait, this placeholder makes the compiler name the trait to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait SQLite of the package: .package(url: …, from: …, traits: [\"SQLite\"])"
)
public final class SQLiteRecordStore: SharedRecordStore {
    /// Accepts the same arguments as the real store.
    public init(
        directory: URL,
        byteLimit: Int = 256 * 1_024 * 1_024,
        now: @escaping @Sendable () -> Date = { Date() },
        reportDamage: @escaping @Sendable (RecordDamage) -> Void = { _ in }
    ) {}

    /// Does nothing.
    public func close() async {}

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
        RecordStoreError(.closed, explanation: "The package trait SQLite is not enabled. Enable it, and build again.")
    }
}
#endif
