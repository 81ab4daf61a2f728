import Synchronization

/// A piece of work that is cancelled when a deadline passes or its caller is, and waited for.
struct BoundWork<Value: Sendable, Failure: Error>: Sendable {
    /// What the work and whoever waits for it tell each other.
    private final class Progress: Sendable {
        let result = Mutex<Result<Value, Failure>?>(nil)
        let isLate = Atomic(false)
    }

    private let work: @Sendable () async throws(Failure) -> Value
    private let deadline: Deadline

    init(_ work: @escaping @Sendable () async throws(Failure) -> Value, deadline: Deadline) {
        self.work = work
        self.deadline = deadline
    }

    /// What the work gives or throws; `nil` if the deadline passes first.
    func outcome() async -> Result<Value, Failure>? {
        let progress = Progress()
        // Unstructured, because only a task can be cancelled, and a group costs several times as much. Its caller waits for it,
        // and hands its own cancellation on.
        let task = begin { [work, deadline] in
            let result = await deadline.carried(by: work)
            progress.result.withLock { $0 = result }
        }
        // Most of what is answered from memory is done by now, and nobody had to wait for it.
        if let result = progress.result.withLock(\.self) { return result }
        let timer = deadline.timer.schedule(at: deadline.moment) {
            progress.isLate.store(true, ordering: .relaxed)
            task.cancel()
        }
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        deadline.timer.cancel(timer)
        return progress.isLate.load(ordering: .relaxed) ? nil : progress.result.withLock(\.self)
    }

    private func begin(_ operation: @escaping @Sendable @concurrent () async -> Void) -> Task<Void, Never> {
        if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, *) {
            // Begins here and now, so that nothing is handed to another thread unless it has to wait.
            return Task.immediate(operation: operation)
        }
        return Task(operation: operation)
    }
}
