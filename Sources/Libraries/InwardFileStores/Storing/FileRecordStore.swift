public import Foundation
import InwardRecordDirectories
public import InwardRepositories

/// A store of records in a directory.
///
/// **Durable** means flushed: when a commit returns, its changes are on the disk as far as `fsync` says so (on Apple's platforms
/// `F_FULLFSYNC`), and so is the name of the file that they are in. Neither a killed process nor a loss of power undoes them.
/// Commits that come while others are being flushed are flushed together, by one `fsync`.
///
/// Changes are added to one file, `records`, with a checksum of each record, and of what each commit says, which is there
/// twice. When most of the file is of no use any more, what is left is written to another that is flushed and then renamed to
/// take its place; commits wait meanwhile. So the directory takes up to about twice of what is kept, and 4 MiB; as much again
/// while that is written. The keys are in memory, with about 100 bytes for each, and what is kept is read when it is asked for.
///
/// The store copies damaged bytes, and those that a killed process wrote in part, into the directory `damaged`, which holds 64
/// files of at most 256 KiB; it reports them, and does not give them. No single damaged byte makes the store give anything but
/// what was kept last, or nothing. If damage destroys all that is known of a commit, the store drops every older record with an
/// expiry, gives the others as they were before, and counts that in ``losses(under:)`` unless only records with an expiry were
/// changed there. A sector that the disk cannot read counts as damaged after three tries, and stops nothing; the old file is then
/// kept in `damaged/logs`. If the file has lost its end, the store gives what was kept before.
///
/// The file begins with the number of its format. A store refuses a file of a newer format, or with an operation that it does not
/// know, and leaves it as it is.
///
/// Files are readable and writable by their owner alone, whatever the `umask` is. The store refuses a directory that belongs to
/// another user or that others may write to.
///
/// Stores in several processes may share one directory, where the file system knows `flock`. Each sees what others have changed
/// as soon as that is durable.
///
/// The store reads and writes on threads of its own, so that no thread that all tasks share waits for a disk or for another process.
/// A task that is cancelled, or whose deadline passes, stops waiting, unless its commit has begun to be written.
public final class FileRecordStore: RecordStore {
    private let log: RecordLog
    private let reads = RecordReadQueue()
    private let commits: RecordCommitQueue
    private let claims: RecordClaims

    /// Makes a store in a directory. It is made, or read, when the store is first used, and again if that failed.
    ///
    /// - Parameters:
    ///   - directory: The address of the directory, which has nothing else in it.
    ///   - byteLimit: How many bytes records and keys may take. Beyond that, records with an expiry go, those first that expire first;
    ///     others stay, however many they are.
    ///   - now: The time, by which records expire.
    ///   - reportDamage: Receives what was damaged. It is called on the thread that writes, and must not wait for the store.
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

    /// Makes a store with failures to inject into its system calls, and with a limit for the garbage that it leaves in its file.
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

    /// What is kept under a key; `nil` if nothing is, if it has expired, or if it is damaged.
    ///
    /// It does not wait for commits of this store, and reads the disk once.
    ///
    /// - Throws: a `RecordStoreError` if the directory cannot be read, or the task was cancelled beforehand.
    public func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        try await reads.read { [log] () throws(RecordStoreError) in try log.record(for: key) }
    }

    /// The keys that begin with a key and what is kept under each, in order. It takes time in proportion to their number.
    ///
    /// - Throws: a `RecordStoreError` if the directory cannot be read, or the task was cancelled beforehand.
    public func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try await reads.read { [log] () throws(RecordStoreError) in try log.records(under: key) }
    }

    /// Returns the losses among the keys that begin with a key. It reads the records under the key.
    ///
    /// - Throws: a `RecordStoreError` if the directory cannot be read, or the task was cancelled beforehand.
    public func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses {
        try await reads.read { [log] () throws(RecordStoreError) in try log.losses(under: key) }
    }

    /// Makes changes in their order, all of them or none. They are flushed when it returns.
    ///
    /// - Throws: a `RecordStoreError` if nothing was changed: because there is no room, it may not be done, or the task
    ///   was cancelled, or its deadline passed, before the store began to write.
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

    private static func make(_ group: [[RecordChange]], in log: RecordLog) -> [RecordCommitQueue.Outcome] {
        let outcome = Result { () throws(RecordStoreError) in try log.commit(group.flatMap(\.self)) }
        if case .failure = outcome, group.count > 1 {
            // There may be room for one where there is none for all.
            return group.flatMap { make([$0], in: log) }
        }
        return group.map { _ in outcome }
    }
}
