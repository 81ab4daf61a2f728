public import Foundation
import InwardRecordDirectories
public import InwardRepositories

/// A durable record store in a directory, backed by an append-only log.
///
///     let store = FileRecordStore(directory: URL(filePath: "/var/lib/example/records"))
///     let record = try await store.record(for: ["users", "1"])
///
/// **Durability.** When a commit returns, its changes and the name of the file that holds them have been flushed with `fsync`
/// (`F_FULLFSYNC` on Apple platforms). They survive a killed process and a power failure. Commits that arrive during a flush are
/// grouped and flushed with a single `fsync`.
///
/// **Space.** The store appends changes to the file `records`, with a checksum for each record and a duplicated, checksummed header
/// for each commit. When most of the file is garbage, the store writes the live records to a new file, flushes it, and renames it
/// over the old one. Commits wait for this rewrite. The directory takes up to about twice the size of the live records plus 4 MiB,
/// and as much again during a rewrite. The keys stay in memory, at about 100 bytes each. Values are read from the disk on demand.
///
/// **Damage.** The store never returns damaged bytes. It reports them, and copies them to the directory `damaged`, which holds up
/// to 64 files of at most 256 KiB. Partial writes of a killed process are handled the same way. If a single byte is damaged, every
/// read returns either the latest record or nothing. If damage destroys everything known about a commit, the store drops all older
/// records that have an expiry, returns the other records as they were before, and counts the damage in ``losses(under:)`` unless
/// that commit changed only records with an expiry. A sector that cannot be read counts as damaged after three attempts and does
/// not stop the store; the old file is kept in `damaged/logs`. If the end of the file is lost, the store returns the earlier
/// records.
///
/// **Versions.** The file begins with its format version. The store refuses a file that has a newer format or an unknown operation,
/// and leaves it unchanged.
///
/// **Permissions.** Only the owner can read and write the files, regardless of the `umask`. The store refuses a directory that
/// belongs to another user or that other users can write to.
///
/// **Concurrency.** Several processes can share a directory if the file system supports `flock`. Each of them sees the changes of
/// the others as soon as they are durable. The store does its I/O on its own threads and never blocks the cooperative thread pool.
/// A task that is cancelled or whose deadline passes stops waiting, unless the store has begun to write its commit.
public final class FileRecordStore: RecordStore {
    private let log: RecordLog
    private let reads = RecordReadQueue()
    private let commits: RecordCommitQueue
    private let claims: RecordClaims

    /// Creates a store in a directory.
    ///
    /// The store creates or reads the directory on first use. If that fails, the next use tries again.
    ///
    /// - Parameters:
    ///   - directory: The URL of the directory. It must contain nothing else.
    ///   - byteLimit: The maximum size of all records and keys, in bytes. Beyond it, the store evicts records with an expiry, those
    ///     that expire soonest first. Records without an expiry are never evicted, even if they exceed the limit.
    ///   - now: Returns the current time, which determines when records expire.
    ///   - reportDamage: Receives damage reports. It is called on one of the store's threads and must not wait for the store.
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
            make: { Self.make($0, in: log) },
            tidy: { log.tidy() }
        )
    }

    /// Returns the record for a key, or `nil` if there is no record or if it is expired or damaged.
    ///
    /// The read does not wait for commits of this store. It reads the disk once.
    ///
    /// - Throws: a `RecordStoreError` if the directory cannot be read, or if the task was cancelled before the call.
    public func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        try await reads.read { [log] () throws(RecordStoreError) in try log.record(for: key) }
    }

    /// Returns the records whose keys begin with a key, in key order.
    ///
    /// - Throws: a `RecordStoreError` if the directory cannot be read, or if the task was cancelled before the call.
    /// - Complexity: O(*n*) in the number of records returned.
    public func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try await reads.read { [log] () throws(RecordStoreError) in try log.records(under: key) }
    }

    /// Returns the losses among the keys that begin with a key. The call reads all records under the key.
    ///
    /// - Throws: a `RecordStoreError` if the directory cannot be read, or if the task was cancelled before the call.
    public func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses {
        try await reads.read { [log] () throws(RecordStoreError) in try log.losses(under: key) }
    }

    /// Applies changes in order, either all of them or none. They are flushed to the disk when the call returns.
    ///
    /// - Throws: a `RecordStoreError` if nothing was changed: because the disk is full, because access is denied, or because the
    ///   task was cancelled or its deadline passed before the store began to write.
    public func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        try await commits.commit(changes)
    }

    /// Tries to claim a key, without waiting. The system releases a process's claims when it ends, even if it is killed.
    ///
    /// Each claim keeps one file open in the directory `claims`.
    ///
    /// - Throws: a `RecordStoreError` if the file cannot be locked, or if the task was cancelled before the call.
    public func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult {
        try await claims.claim(key)
    }

    private static func make(_ group: [[RecordChange]], in log: RecordLog) -> [RecordCommitQueue.Outcome] {
        let outcome = Result { () throws(RecordStoreError) in try log.commit(group.flatMap(\.self)) }
        if case .failure = outcome, group.count > 1 {
            // There may be space for a single commit where there is none for the whole group.
            return group.flatMap { make([$0], in: log) }
        }
        return group.map { _ in outcome }
    }
}
