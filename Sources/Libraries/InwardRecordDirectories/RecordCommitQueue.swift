import Dispatch
package import InwardRepositories
import Synchronization

/// A queue that makes commits in groups on its own thread, which may block on the disk or on another process.
///
/// Commits that arrive while others are being made form the next group. Until the store is locked, a commit is withdrawn if its
/// task is cancelled.
package final class RecordCommitQueue: Sendable {
    /// The result of a commit.
    package typealias Outcome = Result<Void, RecordStoreError>
    /// Runs a closure while no other process changes the store. Blocks until the lock is free.
    package typealias Exclusively = @Sendable (() -> Void) throws(RecordStoreError) -> Void

    /// A commit whose caller is waiting.
    private struct Commit {
        let changes: [RecordChange]
        let wait: RecordWait<Void>

        var byteCount: Int {
            changes.reduce(0) { sum, change in
                if case .keep(let record, _) = change { sum + record.bytes.count } else { sum }
            }
        }
    }

    private struct Waiting {
        var commits: [Commit] = []
        var isScheduled = false
        /// The queue length that triggers the removal of commits whose tasks have stopped waiting.
        var sweepCount = 64

        mutating func append(_ commit: Commit) {
            if commits.count >= sweepCount {
                removeLeft()
                sweepCount = max(64, 2 * commits.count)
            }
            commits.append(commit)
        }

        mutating func removeLeft() { commits.removeAll { !$0.wait.isWaiting } }
    }

    /// The number of bytes at which a group is complete, so that the queue does not copy many large records at once.
    private static let groupByteLimit = 4 * 1_024 * 1_024

    private let exclusively: Exclusively
    private let make: @Sendable ([[RecordChange]]) -> [Outcome]
    private let tidy: @Sendable () -> Void
    private let waiting = Mutex(Waiting())
    private let queue = DispatchQueue(label: "inward.record-store.commits")

    /// Creates a queue.
    ///
    /// - Parameters:
    ///   - exclusively: Locks the store.
    ///   - make: Makes commits in order and returns their outcomes. Called while the store is locked.
    ///   - tidy: Cleans up after a group of commits. Called while the store is not locked. Only later commits wait for it.
    package init(
        exclusively: @escaping Exclusively,
        make: @escaping @Sendable ([[RecordChange]]) -> [Outcome],
        tidy: @escaping @Sendable () -> Void
    ) {
        self.exclusively = exclusively
        self.make = make
        self.tidy = tidy
    }

    /// Commits changes.
    ///
    /// - Throws: A `RecordStoreError` if the commit failed, or if the task was cancelled or its deadline passed before the
    ///   store began. Then nothing has changed.
    package func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        let wait = RecordWait<Void>()
        try await wait.value {
            guard !changes.isEmpty else { return wait.end(.success(())) }
            let isFirst = waiting.withLock { waiting in
                waiting.append(Commit(changes: changes, wait: wait))
                defer { waiting.isScheduled = true }
                return !waiting.isScheduled
            }
            if isFirst { queue.async { self.makeCommits() } }
        }
    }

    /// Runs a closure after the commits that were queued before it.
    package func perform(_ body: @escaping @Sendable () -> Void) {
        queue.async(execute: body)
    }

    /// Makes the waiting commits in groups until no commit is left.
    private func makeCommits() {
        while hasCommits() {
            do {
                try exclusively {
                    guard let group = nextGroup() else { return }
                    var outcomes = make(group.map(\.changes))[...]
                    for commit in group { commit.wait.end(outcomes.popFirst() ?? Self.unknownOutcome) }
                }
            } catch {
                // No commit has begun.
                let commits = waiting.withLock { waiting in
                    defer { waiting.commits = [] }
                    return waiting.commits
                }
                for commit in commits { commit.wait.end(.failure(error)) }
                continue
            }
            tidy()
        }
    }

    /// Returns whether commits are waiting. If none are, the next commit schedules the queue again.
    private func hasCommits() -> Bool {
        waiting.withLock { waiting in
            waiting.removeLeft()
            waiting.isScheduled = !waiting.commits.isEmpty
            return waiting.isScheduled
        }
    }

    /// Returns the next group of commits. From here on, their tasks can no longer withdraw.
    private func nextGroup() -> [Commit]? {
        waiting.withLock { waiting in
            var byteCount = 0
            let next = waiting.commits.prefix { commit in
                defer { byteCount += commit.byteCount }
                return byteCount < Self.groupByteLimit
            }
            waiting.commits.removeFirst(next.count)
            let group = next.filter { $0.wait.begin() }
            return group.isEmpty ? nil : group
        }
    }

    // Used if the store returns too few outcomes.
    private static let unknownOutcome = Outcome.failure(
        RecordStoreError(.unavailable, explanation: "The store reported no outcome. The changes may have been made.")
    )
}

/// A serial queue that reads on its own thread, which may block on the disk or on another process.
package struct RecordReadQueue: Sendable {
    private let queue = DispatchQueue(label: "inward.record-store.reads")

    /// Creates a queue.
    package init() {}

    /// Reads on the queue and waits for the result.
    ///
    /// - Throws: A `RecordStoreError` if the read fails, or if the task is cancelled or its deadline passes before the read
    ///   ends.
    package func read<Answer: Sendable>(
        _ body: @escaping @Sendable () throws(RecordStoreError) -> Answer
    ) async throws(RecordStoreError) -> Answer {
        let wait = RecordWait<Answer>()
        return try await wait.value {
            queue.async {
                // The task no longer waits, so the read is skipped.
                guard wait.isWaiting else { return }
                wait.end(Result { () throws(RecordStoreError) in try body() })
            }
        }
    }
}
