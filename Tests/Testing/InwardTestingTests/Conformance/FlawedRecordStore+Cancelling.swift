import InwardRepositories
import Synchronization

/// What goes wrong where a commit is cancelled in its course.
extension FlawedRecordStore {
    /// Whether a commit waits for long before it begins to go wrong. Others are not worth the time.
    func isSlow(_ changes: [RecordChange]) -> Bool {
        switch flaw {
        case .saysCancelledThoughMadeLate, .makesHalfWhenCancelledLate: changes.count == 3
        default: false
        }
    }

    /// Ends a commit that has been made, before which there was what is given, and that may have been cancelled meanwhile.
    func endCancelled(_ before: [RecordKey: StoredRecord]) async throws(RecordStoreError) {
        switch flaw {
        case .saysCancelledThoughMade, .saysCancelledThoughMadeLate, .rollsBackWhenCancelled:
            for _ in 0..<8 { await Task.yield() }
        case .changesWhenCancelled: break
        default: return
        }
        guard Task.isCancelled else { return }
        if flaw == .rollsBackWhenCancelled { place.records.withLock { $0 = before } }
        throw RecordStoreError(.cancelled, explanation: "")
    }
}
