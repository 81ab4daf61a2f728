import InwardCore
import Synchronization

/// Work that a scope tracks from before its task is known until ``finish()``. Work without a task, such as the opening of a scope,
/// cannot be cancelled.
@usableFromInline
final class TrackedWork: RunningWork {
    private struct State {
        var task: (any RunningWork)?
        var isCancelled = false
        /// Whether there is a result, so that nothing has to be cancelled.
        var hasEnded = false
        /// Whether nobody has to wait any longer.
        var isOver = false
        var waiters: [Promise<Void>] = []
    }

    private let state = Mutex(State())

    @usableFromInline init() {}

    /// Whether the work was cancelled.
    @usableFromInline var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Sets the task to cancel, and cancels it if the work has already been cancelled.
    ///
    /// - Returns: Whether the work has not ended yet.
    @usableFromInline
    func cancels(_ task: any RunningWork) -> Bool {
        let (isCancelled, hasEnded) = state.withLock { state in
            // A task that has ended is not kept, because it keeps its result.
            state.task = state.hasEnded ? nil : task
            return (state.isCancelled, state.hasEnded)
        }
        if isCancelled { task.cancel() }
        return !hasEnded
    }

    /// Notes that there is a result.
    @usableFromInline
    func noteEnd() { state.withLock { $0.hasEnded = true } }

    /// Resumes the waiters.
    @usableFromInline
    func finish() {
        let waiters = state.withLock { state in
            state.isOver = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.fulfill(()) }
    }

    @usableFromInline
    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }

    @usableFromInline
    func end() async {
        let promise = Promise<Void>()
        let isRunning = state.withLock { state in
            if !state.isOver { state.waiters.append(promise) }
            return !state.isOver
        }
        if isRunning { _ = await promise.value(until: nil) }
    }
}
