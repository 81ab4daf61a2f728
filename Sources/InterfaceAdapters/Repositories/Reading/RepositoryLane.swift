import UseCases

/// What is under way for the questions of one kind.
struct RepositoryLane<Question: RepositoryQuestion>: Sendable {
    struct Fetch: Hashable, Sendable {
        let question: Question
        let bypassesCaches: Bool
    }

    let fetches: SingleFlight<Fetch, Reading<Question.Value>, RepositoryError>
    let loads: SingleFlight<Question, KeptAnswer<Question.Kept>?, RecordStoreError>
    let refreshes = BackgroundTasks<Question>()

    init(whenAbandoned abandonment: RepositoryAbandonment) {
        fetches = SingleFlight(whenAbandoned: abandonment == .finished ? .goesOn : .cancels)
        // What is read from a disk is soon there, and is of use to whoever comes next.
        loads = SingleFlight(whenAbandoned: .goesOn)
    }

    /// Has nobody join what is under way now.
    func detachAll() {
        fetches.detachAll()
        loads.detachAll()
    }
}
