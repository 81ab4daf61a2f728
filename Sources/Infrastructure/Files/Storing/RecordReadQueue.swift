import Dispatch
package import InterfaceAdapters

/// Reads on a thread that may wait for a disk, one after the other.
package struct RecordReadQueue: Sendable {
    private let queue = DispatchQueue(label: "inward.record-store.reads")

    /// Makes one.
    package init() {}

    /// Reads something.
    ///
    /// - Throws: a `RecordStoreError` if that fails, or the task was cancelled beforehand.
    package func read<Answer: Sendable>(
        _ body: @escaping @Sendable () throws(RecordStoreError) -> Answer
    ) async throws(RecordStoreError) -> Answer {
        try RecordStoreError.throwIfCancelled()
        // Resumed exactly once: where the queue does the work, which it does once.
        let outcome: Result<Answer, RecordStoreError> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result { () throws(RecordStoreError) in try body() }) }
        }
        return try outcome.get()
    }
}
