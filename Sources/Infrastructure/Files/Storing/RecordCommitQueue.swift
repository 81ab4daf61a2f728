import Dispatch
package import InterfaceAdapters
import Synchronization

/// Has commits made on a thread that may wait for a disk: as many together as have come while others were made.
package final class RecordCommitQueue: Sendable {
    /// What became of a commit.
    package typealias Outcome = Result<Void, RecordStoreError>

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

    private let make: @Sendable ([[RecordChange]]) -> [Outcome]
    private let tidy: @Sendable () -> Void
    private let waiting = Mutex(Waiting())
    private let queue = DispatchQueue(label: "inward.record-store.commits")

    /// Makes one of what it has to do.
    ///
    /// - Parameters:
    ///   - make: Makes commits, which come in their order, and says of each what became of it.
    ///   - tidy: Does what is to be done behind them, while nobody waits for it but the next.
    package init(
        make: @escaping @Sendable ([[RecordChange]]) -> [Outcome],
        tidy: @escaping @Sendable () -> Void
    ) {
        self.make = make
        self.tidy = tidy
    }

    /// Makes changes.
    ///
    /// - Throws: a `RecordStoreError` if nothing was changed, because it failed or the task was cancelled beforehand.
    package func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        try RecordStoreError.throwIfCancelled()
        guard !changes.isEmpty else { return }
        // Resumed exactly once: the commit is taken out of those that wait under the lock, by `makeCommits` alone, which
        // resumes each that it has taken.
        let outcome = await withCheckedContinuation { continuation in
            let isFirst = waiting.withLock { waiting in
                waiting.commits.append(Commit(changes: changes, continuation: continuation))
                defer { waiting.isScheduled = true }
                return !waiting.isScheduled
            }
            if isFirst { queue.async { self.makeCommits() } }
        }
        try outcome.get()
    }

    /// Does something behind the commits that were asked for before.
    package func perform(_ body: @escaping @Sendable () -> Void) {
        queue.async(execute: body)
    }

    /// Makes the commits that wait, as many together as there are, until none does.
    private func makeCommits() {
        while let group = nextGroup() {
            var outcomes = make(group.map(\.changes))[...]
            for commit in group {
                commit.continuation.resume(returning: outcomes.popFirst() ?? Self.unknownOutcome)
            }
            tidy()
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

    // Nobody is left waiting by a store that says too little.
    private static let unknownOutcome = Outcome.failure(
        RecordStoreError(.unavailable, explanation: "The store does not say whether the changes were made.")
    )
}
