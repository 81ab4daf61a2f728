import Dispatch
package import InwardRepositories
import Synchronization

/// A queue that makes commits in groups on its own thread, which may block on the disk or on another process.
///
/// Commits that arrive while others are being made form the next group, up to the next change of another kind, such as a lease.
/// Until the store is locked, a commit is withdrawn if its task is cancelled.
package final class RecordCommitQueue: Sendable {
    /// The result of a commit.
    package typealias Outcome = Result<Void, RecordStoreError>
    /// Runs a closure while no other process changes the store. Blocks until the lock is free.
    package typealias Exclusively = @Sendable (() -> Void) throws(RecordStoreError) -> Void

    /// Work whose caller is waiting.
    private struct Work {
        /// What the work does.
        enum Kind {
            case commit(RecordCommit)
            /// Does anything else. Called while the store is locked.
            case other(@Sendable () -> Void)
        }

        let kind: Kind
        /// Returns whether the caller is waiting.
        let isWaiting: @Sendable () -> Bool
        /// Begins the work, unless the caller has stopped waiting.
        let begin: @Sendable () -> Bool
        /// Ends the wait of a commit, or of work that has failed.
        let end: @Sendable (Outcome) -> Void

        var commit: RecordCommit? { if case .commit(let commit) = kind { commit } else { nil } }
    }

    private struct Waiting {
        var works: [Work] = []
        var isScheduled = false
        /// The queue length that triggers the removal of work whose tasks have stopped waiting.
        var sweepCount = 64

        mutating func append(_ work: Work) {
            if works.count >= sweepCount {
                removeLeft()
                sweepCount = max(64, 2 * works.count)
            }
            works.append(work)
        }

        mutating func removeLeft() { works.removeAll { !$0.isWaiting() } }
    }

    /// The number of bytes at which a group is complete, so that the queue does not copy many large records at once.
    private static let groupByteLimit = 4 * 1_024 * 1_024

    private let exclusively: Exclusively
    private let make: @Sendable ([RecordCommit]) -> [Outcome]
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
        make: @escaping @Sendable ([RecordCommit]) -> [Outcome],
        tidy: @escaping @Sendable () -> Void
    ) {
        self.exclusively = exclusively
        self.make = make
        self.tidy = tidy
    }

    /// Commits changes, if the conditions are met when the commit is made.
    ///
    /// - Throws: A `RecordStoreError` if a condition is not met, if the commit failed, or if the task was cancelled or its
    ///   deadline passed before the store began. Then nothing has changed.
    package func commit(
        _ changes: [RecordChange],
        if conditions: [RecordCondition] = []
    ) async throws(RecordStoreError) {
        let wait = RecordWait<Void>()
        try await wait.value {
            guard !changes.isEmpty || !conditions.isEmpty else { return wait.end(.success(())) }
            add(
                Work(
                    kind: .commit(RecordCommit(changes, if: conditions)),
                    isWaiting: { wait.isWaiting },
                    begin: { wait.begin() },
                    end: { wait.end($0) }
                )
            )
        }
    }

    /// Changes the store in another way, in turn with the commits, while the store is locked.
    ///
    /// - Throws: A `RecordStoreError` if the closure failed, or if the task was cancelled or its deadline passed before the
    ///   store began.
    package func change<Answer: Sendable>(
        _ body: @escaping @Sendable () throws(RecordStoreError) -> Answer
    ) async throws(RecordStoreError) -> Answer {
        let wait = RecordWait<Answer>()
        return try await wait.value {
            add(
                Work(
                    kind: .other { wait.end(Result { () throws(RecordStoreError) in try body() }) },
                    isWaiting: { wait.isWaiting },
                    begin: { wait.begin() },
                    end: { outcome in if case .failure(let error) = outcome { wait.end(.failure(error)) } }
                )
            )
        }
    }

    private func add(_ work: Work) {
        let isFirst = waiting.withLock { waiting in
            waiting.append(work)
            defer { waiting.isScheduled = true }
            return !waiting.isScheduled
        }
        if isFirst { queue.async { self.makeCommits() } }
    }

    /// Runs a closure after the commits that were queued before it.
    package func perform(_ body: @escaping @Sendable () -> Void) {
        queue.async(execute: body)
    }

    /// Does the waiting work until none is left.
    private func makeCommits() {
        while hasWork() {
            do {
                try exclusively {
                    let group = nextGroup()
                    if case .other(let body) = group.first?.kind { return body() }
                    guard !group.isEmpty else { return }
                    var outcomes = make(group.compactMap(\.commit))[...]
                    for work in group { work.end(outcomes.popFirst() ?? Self.unknownOutcome) }
                }
            } catch {
                // No work has begun.
                let works = waiting.withLock { waiting in
                    defer { waiting.works = [] }
                    return waiting.works
                }
                for work in works { work.end(.failure(error)) }
                continue
            }
            tidy()
        }
    }

    /// Returns whether work is waiting. If none is, the next work schedules the queue again.
    private func hasWork() -> Bool {
        waiting.withLock { waiting in
            waiting.removeLeft()
            waiting.isScheduled = !waiting.works.isEmpty
            return waiting.isScheduled
        }
    }

    /// Returns the next group of commits, or other work, which forms a group of its own. From here on, their tasks can no longer
    /// withdraw.
    private func nextGroup() -> [Work] {
        waiting.withLock { waiting in
            var byteCount = 0
            let commits = waiting.works.prefix { work in
                guard let commit = work.commit, byteCount < Self.groupByteLimit else { return false }
                byteCount += commit.byteCount
                return true
            }
            let next = commits.isEmpty ? waiting.works.prefix(1) : commits
            waiting.works.removeFirst(next.count)
            return next.filter { $0.begin() }
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
