import InwardCore
import Synchronization

/// The coalesced requests in flight for one type of question.
struct InFlightRequests<Question: RepositoryQuestion>: Sendable {
    struct Fetch: Hashable, Sendable {
        let question: Question
        let bypassesCaches: Bool
    }

    let fetches: SingleFlight<Fetch, Reading<Question.Value>, RepositoryError>
    let loads: SingleFlight<Question, KeptAnswer<Question.Kept>?, Never>
    let refreshes: BackgroundTasks<Question>

    init(whenAbandoned abandonment: AbandonmentPolicy, executor: (any TaskExecutor)?) {
        fetches = SingleFlight(whenAbandoned: abandonment, executor: executor)
        // An abandoned load finishes: reading from disk is quick, and the next caller can use the result.
        loads = SingleFlight(whenAbandoned: .finish, executor: executor)
        refreshes = BackgroundTasks(executor: executor)
    }

    /// Prevents new callers from joining the requests in flight.
    func detachAll() {
        fetches.detachAll()
        loads.detachAll()
    }

    /// Cancels the requests in flight, and rejects new background refreshes.
    func close() async {
        fetches.cancelAll()
        await refreshes.close()
    }
}

/// Background tasks, at most one for each key at a time, until they are closed.
final class BackgroundTasks<Key: Hashable & Sendable>: Sendable {
    private struct State {
        var tasks: [Key: Task<Void, Never>] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())
    private let executor: (any TaskExecutor)?

    /// Creates an empty set of tasks.
    ///
    /// - Parameter executor: The executor for the tasks, or `nil` for the default.
    init(executor: (any TaskExecutor)? = nil) {
        self.executor = executor
    }

    /// The number of tasks in progress.
    var count: Int { state.withLock(\.tasks.count) }

    /// Begins a task for a key, unless one is in progress or the set is closed. The task does not inherit the caller's
    /// deadline.
    func begin(_ key: Key, _ work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard !state.isClosed, state.tasks[key] == nil else { return }
            // Unstructured, because only `close()` waits for it. Creating it under the lock is safe: the task takes the lock
            // only after its work.
            state.tasks[key] = Deadline.lifted {
                Task.starting(on: executor) { [weak self] in
                    await work()
                    self?.state.withLock { _ = $0.tasks.removeValue(forKey: key) }
                }
            }
        }
    }

    /// Cancels all tasks, rejects new ones, and waits until the tasks have ended.
    func close() async {
        let tasks = state.withLock { state in
            state.isClosed = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }
}
