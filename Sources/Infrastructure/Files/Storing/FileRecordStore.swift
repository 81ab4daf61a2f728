import Dispatch
public import Foundation
public import InterfaceAdapters
import Synchronization

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
/// What a killed process has written in part, and what is damaged, is copied into the directory `damaged`, which holds 64
/// files of at most 256 KiB; it is reported, and not given. No single damaged byte makes the store give anything but what was
/// kept last, or nothing. Where both places are damaged that say what a commit changed, or the file has lost its end, what was
/// kept before that is given.
///
/// Stores in several processes may have one directory, where the file system knows `flock`. Each sees what others have changed
/// as soon as that is durable.
///
/// Files are read and written on threads of the store's own, for no task is to wait for a disk on a thread that all tasks share.
public final class FileRecordStore: RecordStore {
    private typealias Outcome = Result<Void, RecordStoreError>

    /// Changes that somebody waits for.
    private struct Commit {
        let changes: [RecordChange]
        let continuation: CheckedContinuation<Outcome, Never>

        var byteCount: Int {
            changes.reduce(0) { sum, change in
                if case .keep(let record, _) = change { sum + record.bytes.count } else { sum }
            }
        }
    }

    private struct Waiting {
        var commits: [Commit] = []
        var isScheduled = false
    }

    /// How many bytes are committed together, so that a crowd of large records is not in memory twice.
    private static let groupByteLimit = 4 * 1_024 * 1_024

    private let log: RecordLog
    private let waiting = Mutex(Waiting())
    private let reads = DispatchQueue(label: "inward.record-store.reads")
    private let commits = DispatchQueue(label: "inward.record-store.commits")

    /// Makes a store in a directory. It is made, or read, when the store is first used, and again if that failed.
    ///
    /// - Parameters:
    ///   - directory: The address of the directory, which has nothing else in it.
    ///   - byteLimit: How many bytes records and keys may take. Beyond that, records with an expiry go, those first that expire first;
    ///     others stay, however many they are.
    ///   - now: The time, by which records expire.
    ///   - reportDamage: Is told what was damaged. It is called where files are written, and must not wait for the store.
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

    /// Makes a store whose files fail when they are told to, and that leaves so many bytes of no use in its file.
    init(
        directory: URL,
        byteLimit: Int,
        slack: Int,
        now: @escaping @Sendable () -> Date,
        reportDamage: @escaping @Sendable (RecordDamage) -> Void,
        faults: @escaping RecordFileFault.Source
    ) {
        log = RecordLog(
            RecordDirectory(url: directory, faults: faults),
            byteLimit: max(0, byteLimit),
            slack: max(0, slack),
            now: now,
            report: reportDamage
        )
    }

    /// What is kept under a key; `nil` if nothing is, if it has expired, or if it is damaged.
    ///
    /// It does not wait for commits of this store, and reads the disk once.
    ///
    /// - Throws: a `RecordStoreError` if the directory cannot be read, or the task was cancelled beforehand.
    public func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        try await read { log throws(RecordStoreError) in try log.record(for: key) }
    }

    /// The keys that begin with a key and what is kept under each, in order. It takes time in proportion to their number.
    ///
    /// - Throws: a `RecordStoreError` if the directory cannot be read, or the task was cancelled beforehand.
    public func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try await read { log throws(RecordStoreError) in try log.records(under: key) }
    }

    /// Makes changes in their order, all of them or none. They are flushed when it returns.
    ///
    /// - Throws: a `RecordStoreError` if nothing was changed: because there is no room, it may not be done, or the task was
    ///   cancelled beforehand.
    public func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        try Self.throwIfCancelled()
        guard !changes.isEmpty else { return }
        // Resumed exactly once: the commit is taken out of those that wait under the lock, by `makeCommits` alone, and
        // `make` resumes each that it is given, or gives it to itself alone.
        let outcome = await withCheckedContinuation { continuation in
            let isFirst = waiting.withLock { waiting in
                waiting.commits.append(Commit(changes: changes, continuation: continuation))
                defer { waiting.isScheduled = true }
                return !waiting.isScheduled
            }
            if isFirst { self.commits.async { self.makeCommits() } }
        }
        try outcome.get()
    }

    private func read<Answer: Sendable>(
        _ body: @escaping @Sendable (RecordLog) throws(RecordStoreError) -> Answer
    ) async throws(RecordStoreError) -> Answer {
        try Self.throwIfCancelled()
        // Resumed exactly once: where the queue does the work, which it does once.
        let outcome: Result<Answer, RecordStoreError> = await withCheckedContinuation { continuation in
            reads.async { [log] in
                continuation.resume(returning: Result { () throws(RecordStoreError) in try body(log) })
            }
        }
        return try outcome.get()
    }

    /// Makes the commits that wait, as many together as there are, until none does.
    private func makeCommits() {
        while let group = nextGroup() {
            make(group)
            log.tidy()
        }
    }

    private func nextGroup() -> [Commit]? {
        waiting.withLock { waiting in
            var byteCount = 0
            let group = waiting.commits.prefix { commit in
                defer { byteCount += commit.byteCount }
                return byteCount < Self.groupByteLimit
            }
            waiting.commits.removeFirst(group.count)
            waiting.isScheduled = !group.isEmpty
            return group.isEmpty ? nil : Array(group)
        }
    }

    private func make(_ group: [Commit]) {
        let outcome = Result { () throws(RecordStoreError) in try log.commit(group.flatMap(\.changes)) }
        if case .failure = outcome, group.count > 1 {
            // There may be room for one where there is none for all.
            for commit in group { make([commit]) }
        } else {
            for commit in group { commit.continuation.resume(returning: outcome) }
        }
    }

    private static func throwIfCancelled() throws(RecordStoreError) {
        guard Task.isCancelled else { return }
        throw RecordStoreError(
            .cancelled,
            explanation: "The task was cancelled before the store was asked."
        )
    }
}
