import InwardRepositories
import Synchronization

/// Flaws that occur when a commit is cancelled in progress.
extension FlawedRecordStore {
    /// Returns whether a commit waits for a long time before the flaw takes effect. Other commits do not wait, to save time.
    func isSlow(_ changes: [RecordChange]) -> Bool {
        switch flaw {
        case .reportsCancellationAfterSlowCommit, .commitsPartiallyWhenCancelledLate: changes.count == 3
        default: false
        }
    }

    /// Ends a commit that may have been cancelled in the meantime. `before` holds the records before the commit.
    func endCancelled(_ before: [RecordKey: StoredRecord]) async throws(RecordStoreError) {
        switch flaw {
        case .reportsCancellationAfterCommit, .reportsCancellationAfterSlowCommit, .rollsBackWhenCancelled:
            for _ in 0..<8 { await Task.yield() }
        case .commitsWhenCancelled: break
        default: return
        }
        guard Task.isCancelled else { return }
        if flaw == .rollsBackWhenCancelled { place.records.withLock { $0 = before } }
        throw RecordStoreError(.cancelled, explanation: "")
    }
}
