import InwardCore
import Synchronization

/// Work that a scope tracks from before its task is known until ``finish()``. Work without a task, such as the opening of a scope,
/// cannot be cancelled.
final class TrackedWork: RunningWork {
    private struct State {
        var task: (any RunningWork)?
        var isCancelled = false
        var isLate = false
        /// Whether there is a result, so that nothing has to be cancelled.
        var hasEnded = false
        /// Whether nobody has to wait any longer.
        var isOver = false
        var waiters: [Promise<Void>] = []
    }

    private let state = Mutex(State())

    /// Whether the work was cancelled.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Whether the work was cancelled because its deadline passed before it had ended.
    var isLate: Bool { state.withLock { $0.isLate } }

    /// Sets the task to cancel, and cancels it if the work has already been cancelled.
    ///
    /// - Returns: Whether the work has not ended yet.
    func cancels(_ task: some RunningWork) -> Bool {
        let (isCancelled, hasEnded) = state.withLock { state in
            // A task that has ended is not kept, because it keeps its result.
            state.task = state.hasEnded ? nil : task
            return (state.isCancelled, state.hasEnded)
        }
        if isCancelled { task.cancel() }
        return !hasEnded
    }

    /// Notes that there is a result.
    func noteEnd() { state.withLock { $0.hasEnded = true } }

    /// Resumes the waiters.
    func finish() {
        let waiters = state.withLock { state in
            state.isOver = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.fulfill(()) }
    }

    func cancel() { cancel(asLate: false) }

    /// Cancels the work.
    ///
    /// - Parameter isLate: Whether the reason is the deadline. Work that has a result is not late any more.
    func cancel(asLate isLate: Bool) {
        let task = state.withLock { state in
            state.isCancelled = true
            if isLate, !state.hasEnded { state.isLate = true }
            return state.task
        }
        task?.cancel()
    }

    func end() async {
        let promise = Promise<Void>()
        let isRunning = state.withLock { state in
            if !state.isOver { state.waiters.append(promise) }
            return !state.isOver
        }
        if isRunning { _ = await promise.value(until: nil) }
    }
}

extension Task where Failure == Never {
    /// Starts a task on the current thread, so that its work moves to a thread of the executor only if it suspends.
    static func startingHere(
        on executor: (any TaskExecutor)?,
        _ operation: @escaping @Sendable @concurrent () async -> Success
    ) -> Task {
        if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, *) {
            return .immediate(executorPreference: executor, operation: operation)
        }
        return Task(executorPreference: executor, operation: operation)
    }
}
