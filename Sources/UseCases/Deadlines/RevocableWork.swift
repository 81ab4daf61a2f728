import Synchronization

/// A piece of work that is cancelled when it is revoked or its caller is cancelled, and waited for.
package struct RevocableWork<Value: Sendable, Failure: Error>: Sendable {
    /// What the work and whoever waits for it tell each other.
    private final class Progress: Sendable {
        let result = Mutex<Result<Value, Failure>?>(nil)
        let isRevoked = Atomic(false)
    }

    private let work: @Sendable () async throws(Failure) -> Value

    private let executor: (any TaskExecutor)?

    /// Work that has not begun.
    ///
    /// - Parameters:
    ///   - executor: Where the work is done; `nil` for wherever there is room.
    ///   - work: What is done.
    package init(
        executor: (any TaskExecutor)? = nil,
        _ work: @escaping @Sendable () async throws(Failure) -> Value
    ) {
        self.executor = executor
        self.work = work
    }

    /// Does the work.
    ///
    /// - Parameter arm: Is given what revokes the work, for whoever is to call that, and gives what calls that off. It is not
    ///   called for work that is done without a wait.
    /// - Returns: what the work gives or throws; `nil` if it was revoked first, whatever it came to then.
    package func outcome(
        revokedBy arm: (_ revoke: @escaping @Sendable () -> Void) -> () -> Void
    ) async -> Result<Value, Failure>? {
        let progress = Progress()
        // Unstructured, because only a task can be cancelled, and a group costs several times as much. Its caller waits for it,
        // and hands its own cancellation on.
        let task = begin { [work] in
            let result = await Result(awaiting: work)
            progress.result.withLock { $0 = result }
        }
        // Most of what is answered from memory is done by now, and nobody had to wait for it.
        let result = progress.result.withLock { $0 }
        if let result { return result }
        let disarm = arm {
            progress.isRevoked.store(true, ordering: .relaxed)
            task.cancel()
        }
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        disarm()
        return progress.isRevoked.load(ordering: .relaxed) ? nil : progress.result.withLock { $0 }
    }

    private func begin(_ operation: @escaping @Sendable @concurrent () async -> Void) -> Task<Void, Never> {
        if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, *) {
            // Begins here and now, so that nothing is handed to another thread unless it has to wait.
            return Task.immediate(executorPreference: executor, operation: operation)
        }
        return Task(executorPreference: executor, operation: operation)
    }
}
