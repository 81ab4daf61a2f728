#if SQLite
public import Foundation
import InwardRecordDirectories
public import InwardRepositories

/// A durable record store in an SQLite database.
///
/// ```swift
/// let store = SQLiteRecordStore(directory: directory)
/// try await store.commit([.keep(StoredRecord(Array("Ada".utf8)), ["users", "1"])])
/// let user = try await store.record(for: ["users", "1"])
/// ```
///
/// **Durability.** When a commit returns, its changes have been flushed to the write-ahead log with `fsync` (`F_FULLFSYNC` on Apple
/// platforms; `synchronous` is `FULL`). They survive a killed process and a power failure. Commits that arrive during a flush share
/// the next transaction and `fsync`. A commit that fails does not affect the others.
///
/// **Atomicity.** Readers see all changes of a commit or none. For example, they never see a comment without the message that
/// was committed with it.
///
/// **Queries.** Keys are ordered by their bytes, and the records under a key are read as a range. A query takes time and memory
/// in proportion to its results. The log is checkpointed after the commit that makes it exceed 4 MiB. Removed records are
/// overwritten and their space is reused, but the database file does not shrink.
///
/// **Damage.** Each record has a checksum. The store never returns data that was not stored under the requested key.
///
/// - A damaged record is reported and copied to the directory `damaged`, which holds up to 64 files of at most 256 KiB.
/// - If the database itself cannot be read, the store copies the readable records to a new database, and moves the old one to
///   `damaged/databases`, which holds at most two.
/// - If the write-ahead log is damaged or incomplete, SQLite uses the transactions before the damage. The store reports the
///   rest, but does not list it in ``losses(under:)``, because a killed process leaves the same traces.
/// - Damage to the counters at the start of an SQLite page can hide records, and the store does not notice.
///
/// **Concurrency.** Several processes can share a directory if the file system supports `flock` and shared memory, which network
/// file systems do not. Each process sees the changes of the others as soon as they are durable. The store does its I/O on its own
/// threads and never blocks the cooperative thread pool.
///
/// **Leases and conditions.** Versions and fencing tokens come from one counter in the database, which survives removals and crashes.
/// After damage, the counter skips 2³² numbers, because the damaged part may have used them. It can go back if the database or its
/// log is removed, replaced by an older copy, or damaged again after such a skip.
///
/// **Formats.** The store migrates a database of an older version of this package. It refuses a database of a newer version, and
/// leaves it unchanged.
public final class SQLiteRecordStore: SharedRecordStore {
    let database: RecordDatabase
    let reads = RecordReadQueue()
    let commits: RecordCommitQueue
    let hub = RecordAnnouncementHub()
    private let claims: RecordClaims

    /// Creates a store in a directory.
    ///
    /// The store creates or opens its database on first use. If that fails, the next use tries again.
    ///
    /// - Parameters:
    ///   - directory: The URL of the directory. It must contain nothing else.
    ///   - byteLimit: The maximum size of all records, in bytes. The size of a record is that of its value plus
    ///     that of its key plus 32 bytes. Above the limit, the store evicts records with an expiry, earliest expiry first.
    ///     It never evicts records without an expiry.
    ///   - now: Returns the current time, which determines whether a record has expired.
    ///   - reportDamage: Receives damage reports. The store calls this closure on one of its threads, and the closure must not
    ///     wait for the store.
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

    /// Creates a store with injected system-call failures, a schema and limits.
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
        hub.close()
        // Closes the database on the queue's thread, so that releasing the store does not wait for the final checkpoint.
        commits.perform { [database] in database.close() }
    }

    /// Closes the database after all earlier commits, and ends all announcements. Later calls fail with the reason `closed`.
    ///
    /// If the task is cancelled or its deadline passes, it stops waiting, but the database is still closed. Without this call,
    /// the database is closed after the last reference to the store is released.
    public func close() async {
        let wait = RecordWait<Void>()
        commits.perform { [database] in
            database.close()
            wait.end(.success(()))
        }
        try? await wait.value {}
        hub.close()
    }

    /// Returns the record for a key, or `nil` if it does not exist, has expired or is damaged. The read does not wait for
    /// commits.
    ///
    /// - Throws: A `RecordStoreError` if the database cannot be read, or if the task is cancelled or its deadline passes first.
    /// - Complexity: O(log *n*) in the number of records in the store.
    public func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        try await reads.read { [database] () throws(RecordStoreError) in try database.record(for: key) }
    }

    /// Returns the records whose keys begin with a key, in key order, from one consistent snapshot.
    ///
    /// - Throws: A `RecordStoreError` if the database cannot be read, or if the task is cancelled or its deadline passes first.
    /// - Complexity: O(*n*) in the number of records returned.
    public func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try await reads.read { [database] () throws(RecordStoreError) in try database.records(under: key) }
    }

    /// Returns the losses of records whose keys begin with a key. Reads all records under the key.
    ///
    /// - Throws: A `RecordStoreError` if the database cannot be read, or if the task is cancelled or its deadline passes first.
    public func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses {
        try await reads.read { [database] () throws(RecordStoreError) in try database.losses(under: key) }
    }

    /// Applies all changes in order, and flushes them to the disk before it returns. If it throws, it has changed nothing.
    ///
    /// - Throws: A `RecordStoreError` if the disk is full or access is denied, for example, or if the task is cancelled or its
    ///   deadline passes before the store begins to write.
    public func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        try await commit(changes, if: [])
    }

    /// Claims a key, or returns its current owner. The call does not wait for the owner.
    ///
    /// Each claim keeps one file open in the directory `claims`. When a process ends, even if it is killed, the system releases
    /// its claims.
    ///
    /// - Throws: A `RecordStoreError` if the file cannot be locked, or if the task was cancelled before the call.
    public func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult {
        try await claims.claim(key)
    }
}

/// The size limits of a database, and options for tests.
struct DatabaseLimits: Sendable {
    /// The page size of a new database in bytes.
    var pageSize = 4_096
    /// The maximum number of pages, for tests of a full database, or `nil` for no limit.
    var pageCount: Int?
    /// The log size in bytes that triggers a checkpoint.
    var logLength = 4 * 1_024 * 1_024
    /// Whether commits wait for the disk. Only tests that create thousands of databases disable this.
    var isFlushed = true
}
#endif
