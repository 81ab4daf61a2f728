import Synchronization

/// A place where so many tasks wait for one another: none goes on before all have arrived.
final class Rendezvous: Sendable {
    private struct State {
        var missing: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(of count: Int) {
        state = Mutex(State(missing: count))
    }

    /// Waits for the others.
    func arrive() async {
        // Each continuation is kept once, under the lock, and resumed by whoever arrives last and takes them all out.
        await withCheckedContinuation { continuation in
            let complete = state.withLock { state in
                state.missing -= 1
                state.waiting.append(continuation)
                guard state.missing == 0 else { return [CheckedContinuation<Void, Never>]() }
                defer { state.waiting = [] }
                return state.waiting
            }
            complete.forEach { $0.resume() }
        }
    }
}
