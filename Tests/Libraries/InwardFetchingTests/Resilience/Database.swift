import Synchronization

/// A database that answers queries from a script, whose last step is repeated, and records the queries.
final class Database: Sendable {
    private struct State {
        var steps: [Result<String, DatabaseError>]
        var asked: [Int] = []
    }

    private let state: Mutex<State>

    init(_ steps: Result<String, DatabaseError>...) {
        state = Mutex(State(steps: steps))
    }

    var asked: [Int] { state.withLock(\.asked) }

    /// The operation without decorators.
    var query: Query { Query { [self] id throws(DatabaseError) in try row(id) } }

    func row(_ id: Int) throws(DatabaseError) -> String {
        let step = state.withLock { state in
            state.asked.append(id)
            return state.steps.count > 1 ? state.steps.removeFirst() : state.steps.first
        }
        guard let step else { throw .notFound }
        return try step.get()
    }
}
