public import Foundation
import InwardRecordDirectories
public import InwardRepositories

/// A durable record store in a directory, backed by an append-only log.
///
/// ```swift
/// let store = FileRecordStore(directory: directory)
/// try await store.commit([.keep(StoredRecord(Array("Ada".utf8)), ["users", "1"])])
/// let user = try await store.record(for: ["users", "1"])
/// ```
///
/// **Durability.** When a commit returns, its changes and their file's directory entry have been flushed with `fsync`
/// (`F_FULLFSYNC` on Apple platforms). They survive a killed process and a power failure. Commits that arrive during a flush
/// share the next `fsync`. A lease, or a change of its end, has an `fsync` of its own.
///
/// **Space.** The store appends changes to the file `records`, with a checksum for each record and a duplicated, checksummed
/// header for each commit. When most of the file is garbage, the store writes the live records to a new file, flushes it, and
/// renames it over the old one. Commits wait for this rewrite. The file can grow to about twice the size of the live records
/// plus 4 MiB, and a rewrite temporarily needs the size of the live records in addition. Keys stay in memory, at about 130
/// bytes each. Values are read from the disk on demand.
///
/// **Damage.** The store never returns damaged bytes. It reports them, and copies them to the directory `damaged`, which holds
/// up to 64 files of at most 256 KiB. It does the same with the partial write of a killed process. See <doc:HandlingDamage>.
///
/// **Formats.** The file begins with its format version. The store refuses a file with a newer format or an unknown operation,
/// and leaves it unchanged. A version of this package without `SharedRecordStore` refuses a file after the first commit of this
/// one.
///
/// **Leases and conditions.** Versions and fencing tokens come from one counter in the file, which survives removals, rewrites and
/// crashes. After damage, the counter skips 2³² numbers, because the damaged part may have used them. It can go
/// back if the file is removed, replaced by an older copy, cut off between two commits, or damaged again after such a skip.
///
/// **Permissions.** Only the owner can read and write the files, regardless of the `umask`. The store refuses a directory that
/// belongs to another user or that other users can write to.
///
/// **Concurrency.** Several processes can share a directory if the file system supports `flock`. Each of them sees the changes
/// of the others as soon as they are durable. The store does its I/O on its own threads and never blocks the cooperative thread
/// pool. A task stops waiting when it is cancelled or its deadline passes, unless the store has begun to write its commit.
public final class FileRecordStore: SharedRecordStore {
    let log: RecordLog
    let reads = RecordReadQueue()
    let commits: RecordCommitQueue
    let hub = RecordAnnouncementHub()
    private let claims: RecordClaims

    /// Creates a store in a directory.
    ///
    /// The store creates or reads the directory on first use. If that fails, the next use tries again.
    ///
    /// - Parameters:
    ///   - directory: The URL of the directory. It must contain nothing else.
    ///   - byteLimit: The maximum size of the live records in the file, in bytes. A record's size is that of its value, plus
    ///     twice that of its key, plus 114. Above the limit, the store evicts records with an expiry, earliest expiry first,
    ///     until the rest takes seven eighths of the limit. It never evicts records without an expiry, even if they exceed it.
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
            directory: directory,
            byteLimit: byteLimit,
            slack: 4 * 1_024 * 1_024,
            now: now,
            reportDamage: reportDamage,
            faults: { _ in nil }
        )
    }

    /// Creates a store with injected system-call failures and a limit for the garbage in its file.
    init(
        directory: URL,
        byteLimit: Int,
        slack: Int,
        now: @escaping @Sendable () -> Date,
        reportDamage: @escaping @Sendable (RecordDamage) -> Void,
        faults: @escaping RecordFileFault.Source
    ) {
        let directory = RecordDirectory(url: directory, faults: faults)
        let log = RecordLog(
            directory,
            byteLimit: max(0, byteLimit),
            slack: max(0, slack),
            now: now,
            report: reportDamage
        )
        self.log = log
        claims = RecordClaims(directory, now: now)
        commits = RecordCommitQueue(
            exclusively: { body throws(RecordStoreError) in try log.exclusively(body) },
            make: { log.commit($0) },
            tidy: { log.tidy() }
        )
    }

    deinit { hub.close() }

    /// Returns the record for a key, or `nil` if it does not exist, has expired or is damaged.
    ///
    /// The read does not wait for commits of this store.
    ///
    /// - Throws: A `RecordStoreError` if the directory cannot be read, or if the task is cancelled or its deadline passes
    ///   first.
    public func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        try await reads.read { [log] () throws(RecordStoreError) in try log.record(for: key) }
    }

    /// Returns the records whose keys begin with a key, in key order.
    ///
    /// - Throws: A `RecordStoreError` if the directory cannot be read, or if the task is cancelled or its deadline passes
    ///   first.
    /// - Complexity: O(*n*) in the number of records returned.
    public func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try await reads.read { [log] () throws(RecordStoreError) in try log.records(under: key) }
    }

    /// Returns the losses of records whose keys begin with a key. Reads all records under the key.
    ///
    /// - Throws: A `RecordStoreError` if the directory cannot be read, or if the task is cancelled or its deadline passes
    ///   first.
    public func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses {
        try await reads.read { [log] () throws(RecordStoreError) in try log.losses(under: key) }
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
