import InwardCore

/// What is under way for the questions of one kind.
struct RepositoryLane<Question: RepositoryQuestion>: Sendable {
    struct Fetch: Hashable, Sendable {
        let question: Question
        let bypassesCaches: Bool
    }

    let fetches: SingleFlight<Fetch, Reading<Question.Value>, RepositoryError>
    let loads: SingleFlight<Question, KeptAnswer<Question.Kept>?, Never>
    let refreshes: BackgroundTasks<Question>

    init(whenAbandoned abandonment: RepositoryAbandonment, executor: (any TaskExecutor)?) {
        fetches = SingleFlight(whenAbandoned: abandonment == .finished ? .goesOn : .cancels, executor: executor)
        // What is read from a disk is soon there, and is of use to whoever comes next.
        loads = SingleFlight(whenAbandoned: .goesOn, executor: executor)
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
