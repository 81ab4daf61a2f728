#if SQLite
public import Foundation
import InwardRecordDirectories
public import InwardRepositories

/// A record store in an SQLite database.
///
///     let store = SQLiteRecordStore(directory: directory)
///     try await store.commit([.keep(StoredRecord(bytes), ["users", "42"])])
///     let record = try await store.record(for: ["users", "42"])
///
/// **Durability.** A commit returns after its changes are flushed: the database uses a write-ahead log with `synchronous` set to
/// `FULL`, so they are in the log and `fsync` (on Apple platforms `F_FULLFSYNC`) has confirmed that the log is on disk. Neither a
/// killed process nor a power loss undoes them. Commits that arrive while others are being flushed share one transaction and one
/// `fsync`; a commit that fails does not affect the others.
///
/// **Atomicity.** A commit is one transaction. Readers see all of its changes or none, for example a record together with the
/// message about it.
///
/// **Queries.** Keys are ordered by their bytes, and the records under a key are read as a range. A query takes time proportional
/// to the number of results, and no memory for other records. The log is checkpointed after the commit with which it reaches
/// 4 MiB. The database file does not shrink; removed records are overwritten and their space is reused.
///
/// **Damage.** Each record has a checksum. A damaged record is copied to the directory `damaged`, which holds 64 files of at most
/// 256 KiB, and is reported instead of returned. If the database itself cannot be read, the readable records are copied to a new
/// database, and the old one is moved to `damaged/databases`, which holds two. Damage never makes the store return data that was
/// not stored under that key. However, damage to the counters at the start of an SQLite page can hide records without a report.
/// SQLite uses the log up to the first byte that is damaged or was not written before a process was killed: records up to there
/// are returned, and the rest of the log is reported.
///
/// **Several processes.** Stores in several processes can share a directory if the file system supports `flock` and shared
/// memory, which network file systems do not. Each process sees the changes of the others as soon as they are durable. A database
/// from a later version of this package is left unchanged and causes an error; one from an earlier version is migrated.
///
/// **Threads.** The store reads and writes on its own threads, so disk access never blocks the cooperative thread pool.
public final class SQLiteRecordStore: RecordStore {
    private let database: RecordDatabase
    private let reads = RecordReadQueue()
    private let commits: RecordCommitQueue
    private let claims: RecordClaims

    /// Creates a store in a directory. The store creates or opens its database on first use, and tries again after a failure.
    ///
    /// - Parameters:
    ///   - directory: The URL of the directory, which must not contain anything else.
    ///   - byteLimit: The maximum size of all records and keys in bytes, counting 32 bytes more for each record. Above the limit,
    ///     records with an expiry are evicted, earliest expiry first. Records without an expiry are never evicted.
    ///   - now: Returns the current time, which determines whether records have expired.
    ///   - reportDamage: A closure that receives each damage report. It is called while files are written and must not wait for
    ///     the store.
    public convenience init(
        directory: URL,
        byteLimit: Int = 256 * 1_024 * 1_024,
        now: @escaping @Sendable () -> Date = { Date() },
        reportDamage: @escaping @Sendable (RecordDamage) -> Void = { _ in }
    ) {
        self.init(
            directory: RecordDirectory(url: directory) { _ in nil },
            byteLimit: byteLimit,
            schema: .current,
            limits: DatabaseLimits(),
            now: now,
            reportDamage: reportDamage
        )
    }

    /// Creates a store with injected faults, a schema and limits, for tests.
    init(
        directory: RecordDirectory,
        byteLimit: Int,
        schema: RecordSchema,
        limits: DatabaseLimits,
        now: @escaping @Sendable () -> Date,
        reportDamage: @escaping @Sendable (RecordDamage) -> Void
    ) {
        let database = RecordDatabase(
            directory,
            byteLimit: max(0, byteLimit),
            schema: schema,
            limits: limits,
            now: now,
            report: reportDamage
        )
        self.database = database
        claims = RecordClaims(directory, now: now)
        commits = RecordCommitQueue(
            exclusively: { body throws(RecordStoreError) in try database.exclusively(body) },
            make: { database.commit($0) },
            tidy: { database.tidy() }
        )
    }

    deinit {
        // Releasing the store does not wait for the final checkpoint.
        commits.perform { [database] in database.close() }
    }

    /// Closes the database after the commits requested so far. Later requests fail with the reason `closed`.
    ///
    /// The database is closed even if the task stops waiting because it is cancelled or its deadline passes. Without this call,
    /// the database is closed when the last reference to the store is released.
    public func close() async {
        let wait = RecordWait<Void>()
        commits.perform { [database] in
            database.close()
            wait.end(.success(()))
        }
        try? await wait.value {}
    }

    /// Returns the record for a key; `nil` if there is none, or if it has expired or is damaged.
    ///
    /// Does not wait for commits. Takes time proportional to the logarithm of the number of records.
    ///
    /// - Throws: a `RecordStoreError` if the database cannot be read, or if the task was already cancelled.
    public func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        try await reads.read { [database] () throws(RecordStoreError) in try database.record(for: key) }
    }

    /// Returns all records whose keys begin with a key, in key order, from one consistent snapshot. Takes time proportional to
    /// their number.
    ///
    /// - Throws: a `RecordStoreError` if the database cannot be read, or if the task was already cancelled.
    public func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try await reads.read { [database] () throws(RecordStoreError) in try database.records(under: key) }
    }

    /// Returns the losses among the keys that begin with a key. Reads the records under the key.
    ///
    /// - Throws: a `RecordStoreError` if the database cannot be read, or if the task was already cancelled.
    public func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses {
        try await reads.read { [database] () throws(RecordStoreError) in try database.losses(under: key) }
    }

    /// Applies all changes in order, or none of them. When this method returns, the changes are flushed.
    ///
    /// - Throws: a `RecordStoreError` if nothing was changed, because there is no space or no permission, or because the task was
    ///   already cancelled.
    public func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        try await commits.commit(changes)
    }

    /// Tries to claim a key without waiting. The system releases the claims of a process that exits, even if it is killed.
    ///
    /// Each claim keeps one file open in the directory `claims`.
    ///
    /// - Throws: a `RecordStoreError` if the file cannot be locked, or if the task was already cancelled.
    public func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult {
        try await claims.claim(key)
    }
}

/// The size limits of a database, and options for tests.
struct DatabaseLimits: Sendable {
    /// The page size of a new database in bytes.
    var pageSize = 4_096
    /// The maximum number of pages, for tests of a full database; `nil` for no limit.
    var pageCount: Int?
    /// The log size in bytes that triggers a checkpoint.
    var logLength = 4 * 1_024 * 1_024
    /// Whether commits wait for the disk. Only tests that create thousands of databases disable this.
    var isFlushed = true
}
#endif
