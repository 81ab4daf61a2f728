#if SQLite
public import Foundation
import InwardRecordDirectories
public import InwardRepositories

/// A store of records in a database of SQLite, in a directory.
///
/// **Durable** means flushed: the database has a write-ahead log, and `synchronous` is `FULL`. When a commit returns, its
/// changes are in the log, and that is on the disk as far as `fsync` says so (on Apple's platforms `F_FULLFSYNC`). Neither a
/// killed process nor a loss of power undoes them. Commits that come while others are being flushed are made in one
/// transaction, by one `fsync`; one that fails does not take others with it.
///
/// A commit is one transaction: whoever reads sees all of its changes or none. So is what is written by one commit with
/// what it describes, such as the message about a record with that record.
///
/// Keys are in the order of their bytes, and what is under one is found as a range: it takes time in proportion to what is
/// found, and no memory for what is not. The log is written into the database when it has 4 MiB, behind a commit. The
/// database does not become smaller, and what is removed is overwritten; its room is used again.
///
/// Each record has a checksum. What is damaged is copied into the directory `damaged`, which holds 64 files of at most
/// 256 KiB; it is reported, and not given. Where the database itself cannot be read, what can be is put into a new one, and
/// the old one is moved into `damaged/databases`, which holds two. No damaged byte makes the store give what was not kept
/// under that key. What SQLite counts at the beginning of a page, if it is damaged, may hide records without a report. Of its
/// log SQLite takes what comes before the first byte that is damaged, or that a killed process did not write any more: what
/// was kept until there is given, and the rest of the log is reported.
///
/// Stores in several processes may have one directory, where the file system knows `flock` and shared memory, which those of
/// a network do not. Each sees what others have changed as soon as that is durable. A database of a later version of this
/// package is left as it is, and an error; one of an earlier version is made one of this.
///
/// The database is read and written on threads of the store's own, for no task is to wait for a disk on a thread that all
/// tasks share.
public final class SQLiteRecordStore: RecordStore {
    private let database: RecordDatabase
    private let reads = RecordReadQueue()
    private let commits: RecordCommitQueue
    private let claims: RecordClaims

    /// Makes a store in a directory. It is made, or opened, when the store is first used, and again if that failed.
    ///
    /// - Parameters:
    ///   - directory: The address of the directory, which has nothing else in it.
    ///   - byteLimit: How many bytes records and keys may take, with 32 for each. Beyond that, records with an expiry go, those
    ///     first that expire first; others stay, however many they are.
    ///   - now: The time, by which records expire.
    ///   - reportDamage: Is told what was damaged. It is called where files are written, and must not wait for the store.
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

    /// Makes a store whose files fail when they are told to, and whose database is of such a form and so small.
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
        // Whoever lets go of the store does not wait until the log is written into the database.
        commits.perform { [database] in database.close() }
    }

    /// Closes the database, behind the commits that were asked for before. What is asked for afterwards fails as closed.
    ///
    /// A task that is cancelled, or whose deadline passes, does not wait for that. Who does not call it has the database closed when
    /// nobody holds the store any more.
    public func close() async {
        let wait = RecordWait<Void>()
        commits.perform { [database] in
            database.close()
            wait.end(.success(()))
        }
        try? await wait.value {}
    }

    /// What is kept under a key; `nil` if nothing is, if it has expired, or if it is damaged.
    ///
    /// It does not wait for commits. It takes time in proportion to the logarithm of the number of records.
    ///
    /// - Throws: a `RecordStoreError` if the database cannot be read, or the task was cancelled beforehand.
    public func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        try await reads.read { [database] () throws(RecordStoreError) in try database.record(for: key) }
    }

    /// The keys that begin with a key and what is kept under each, in order, all of one moment. It takes time in proportion to
    /// their number.
    ///
    /// - Throws: a `RecordStoreError` if the database cannot be read, or the task was cancelled beforehand.
    public func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try await reads.read { [database] () throws(RecordStoreError) in try database.records(under: key) }
    }

    /// Returns the losses among the keys that begin with a key. It reads the records under the key.
    ///
    /// - Throws: a `RecordStoreError` if the database cannot be read, or the task was cancelled beforehand.
    public func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses {
        try await reads.read { [database] () throws(RecordStoreError) in try database.losses(under: key) }
    }

    /// Makes changes in their order, all of them or none. They are flushed when it returns.
    ///
    /// - Throws: a `RecordStoreError` if nothing was changed: because there is no room, it may not be done, or the task was
    ///   cancelled beforehand.
    public func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        try await commits.commit(changes)
    }

    /// Tries to claim a key, without waiting. The system releases the claims of a process that ends, also if it is killed.
    ///
    /// Each claim holds a file of its own open, in the directory `claims`.
    ///
    /// - Throws: a `RecordStoreError` if the file cannot be locked, or the task was cancelled beforehand.
    public func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult {
        try await claims.claim(key)
    }
}

/// How large the parts of a database may be, and what else tests choose.
struct DatabaseLimits: Sendable {
    /// How many bytes a page of a new database has.
    var pageSize = 4_096
    /// How many pages a database may have, for the tests of what becomes of it then; `nil` if as many as there is room for.
    var pageCount: Int?
    /// How many bytes the log may have before it is written into the database.
    var logLength = 4 * 1_024 * 1_024
    /// Whether commits wait for the disk, which they do but where a test makes thousands of databases.
    var isFlushed = true
}
#endif
