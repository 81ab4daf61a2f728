import Dispatch

/// Does what waits for a disk on a thread of its own, one thing after the other, for no task is to wait for a disk on a thread that
/// all tasks share.
package final class FileWork: Sendable {
    private let queue = DispatchQueue(label: "inward.file-transfers")

    /// Makes a queue.
    package init() {}

    /// Does a piece of work and waits for it.
    ///
    /// - Returns: what it gives.
    /// - Throws: what it throws.
    package func run<Answer: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Answer
    ) async throws(Failure) -> Answer {
        // Resumed exactly once: where the queue does the work, which it does once.
        let outcome: Result<Answer, Failure> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result { () throws(Failure) in try body() }) }
        }
        return try outcome.get()
    }
}
