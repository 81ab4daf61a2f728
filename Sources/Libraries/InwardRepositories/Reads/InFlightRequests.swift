import InwardCore
import Synchronization

/// What is under way for the questions of one kind.
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
        // What is read from a disk is soon there, and is of use to whoever comes next.
        loads = SingleFlight(whenAbandoned: .finish, executor: executor)
        refreshes = BackgroundTasks(executor: executor)
    }

    /// Has nobody join what is under way now.
    func detachAll() {
        fetches.detachAll()
        loads.detachAll()
    }

    /// Ends what is under way, and begins nothing any more that nobody waits for.
    func close() async {
        fetches.cancelAll()
        await refreshes.close()
    }
}

/// Work that nobody waits for, one piece for a key at a time, until it is closed.
final class BackgroundTasks<Key: Hashable & Sendable>: Sendable {
    private struct State {
        var tasks: [Key: Task<Void, Never>] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())
    private let executor: (any TaskExecutor)?

    /// - Parameter executor: Where work is done; `nil` for wherever there is room.
    init(executor: (any TaskExecutor)? = nil) {
        self.executor = executor
    }

    /// How many pieces of work are under way.
    var count: Int { state.withLock(\.tasks.count) }

    /// Begins work for a key, unless there is some under way, or it is closed. It has nothing to do with the deadline of whoever
    /// begins it.
    func begin(_ key: Key, _ work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard !state.isClosed, state.tasks[key] == nil else { return }
            // Unstructured, because nobody waits for it but whoever closes this. Within the lock, which it takes itself only when
            // the work is done.
            state.tasks[key] = Deadline.lifted {
                Task(executorPreference: executor) { [weak self] in
                    await work()
                    self?.state.withLock { _ = $0.tasks.removeValue(forKey: key) }
                }
            }
        }
    }

    /// Cancels all work, begins no more, and waits for the end of it.
    func close() async {
        let tasks = state.withLock { state in
            state.isClosed = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }
}
