import Dispatch
package import InwardRepositories

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
