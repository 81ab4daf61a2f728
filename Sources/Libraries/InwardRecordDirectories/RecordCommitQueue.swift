import Dispatch
package import InwardRepositories
import Synchronization

/// Makes commits on a thread of its own, which may wait for a disk or for another process: as many together as have come while
/// others were made.
///
/// A commit waits until the store is locked. Until then its task may leave, which withdraws it.
package final class RecordCommitQueue: Sendable {
    /// What became of a commit.
    package typealias Outcome = Result<Void, RecordStoreError>
    /// Runs a closure while no other process changes the store. Blocks until the lock is free.
    package typealias Exclusively = @Sendable (() -> Void) throws(RecordStoreError) -> Void

    /// Changes whose caller waits for them.
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
        /// How many there may be before those are removed whose tasks have left.
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

    /// How many bytes are committed together, so that a crowd of large records is not in memory twice.
    private static let groupByteLimit = 4 * 1_024 * 1_024

    private let exclusively: Exclusively
    private let make: @Sendable ([[RecordChange]]) -> [Outcome]
    private let tidy: @Sendable () -> Void
    private let waiting = Mutex(Waiting())
    private let queue = DispatchQueue(label: "inward.record-store.commits")

    /// Makes one of what it has to do.
    ///
    /// - Parameters:
    ///   - exclusively: Locks the store.
    ///   - make: Makes commits, which come in their order, and says of each what became of it. The store is locked.
    ///   - tidy: Cleans up after them. Only the next commit waits for it. The store is not locked.
    package init(
        exclusively: @escaping Exclusively,
        make: @escaping @Sendable ([[RecordChange]]) -> [Outcome],
        tidy: @escaping @Sendable () -> Void
    ) {
        self.exclusively = exclusively
        self.make = make
        self.tidy = tidy
    }

    /// Makes changes.
    ///
    /// - Throws: a `RecordStoreError` if nothing was changed, because it failed, or because the task was cancelled or its deadline
    ///   passed before the store began.
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

    /// Makes the commits that wait, as many together as there are, until none does.
    private func makeCommits() {
        while hasCommits() {
            do {
                try exclusively {
                    guard let group = nextGroup() else { return }
                    var outcomes = make(group.map(\.changes))[...]
                    for commit in group { commit.wait.end(outcomes.popFirst() ?? Self.unknownOutcome) }
                }
            } catch {
                // None has begun.
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

    /// Whether a commit waits; if none does, the next one schedules this again.
    private func hasCommits() -> Bool {
        waiting.withLock { waiting in
            waiting.removeLeft()
            waiting.isScheduled = !waiting.commits.isEmpty
            return waiting.isScheduled
        }
    }

    /// The next commits to be made together, whose tasks do not leave any more.
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

    // Nobody is left waiting by a store that says too little.
    private static let unknownOutcome = Outcome.failure(
        RecordStoreError(.unavailable, explanation: "The store does not say whether the changes were made.")
    )
}

/// Reads on a thread of its own, which may wait for a disk or for another process, one after the other.
package struct RecordReadQueue: Sendable {
    private let queue = DispatchQueue(label: "inward.record-store.reads")

    /// Makes one.
    package init() {}

    /// Reads something.
    ///
    /// - Throws: a `RecordStoreError` if that fails, or the task was cancelled or its deadline passed before it was read.
    package func read<Answer: Sendable>(
        _ body: @escaping @Sendable () throws(RecordStoreError) -> Answer
    ) async throws(RecordStoreError) -> Answer {
        let wait = RecordWait<Answer>()
        return try await wait.value {
            queue.async {
                // Nothing is read for a task that has left.
                guard wait.isWaiting else { return }
                wait.end(Result { () throws(RecordStoreError) in try body() })
            }
        }
    }
}
