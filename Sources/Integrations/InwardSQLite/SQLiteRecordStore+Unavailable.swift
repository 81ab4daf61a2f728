#if !SQLite
public import Foundation
import InwardRecordDirectories
public import InwardRepositories

/// A store of records in a database of SQLite, where the trait `SQLite` of the package is enabled.
///
/// Without the trait this stands in its place, so that whoever uses it is told by the compiler what to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait SQLite of the package: .package(url: …, from: …, traits: [\"SQLite\"])"
)
public final class SQLiteRecordStore: RecordStore {
    /// Takes what the store takes where there is one.
    public init(
        directory: URL,
        byteLimit: Int = 256 * 1_024 * 1_024,
        now: @escaping @Sendable () -> Date = { Date() },
        reportDamage: @escaping @Sendable (RecordDamage) -> Void = { _ in }
    ) {}

    /// Closes nothing.
    public func close() async {}

    /// Finds nothing.
    ///
    /// - Throws: a `RecordStoreError` with the reason `closed`.
    public func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? { throw Self.missing }

    /// Finds nothing.
    ///
    /// - Throws: a `RecordStoreError` with the reason `closed`.
    public func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] { throw Self.missing }

    /// Finds nothing.
    ///
    /// - Throws: a `RecordStoreError` with the reason `closed`.
    public func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses { throw Self.missing }

    /// Keeps nothing.
    ///
    /// - Throws: a `RecordStoreError` with the reason `closed`.
    public func commit(_ changes: [RecordChange]) async throws(RecordStoreError) { throw Self.missing }

    /// Claims nothing.
    ///
    /// - Throws: a `RecordStoreError` with the reason `closed`.
    public func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult { throw Self.missing }

    private static var missing: RecordStoreError {
        RecordStoreError(.closed, explanation: "The store is not built in.")
    }
}
#endif
