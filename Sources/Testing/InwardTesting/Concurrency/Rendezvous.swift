import Synchronization

/// A place where so many tasks wait for one another, which proves that they are at work at the same time: none goes on before
/// all have arrived.
///
/// Who is cancelled goes on alone, so that a test with a time limit ends where they never all arrive.
public final class Rendezvous: Sendable {
    private struct State {
        var missing: Int
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var cancelled: Set<Int> = []
    }

    private let state: Mutex<State>

    /// Makes a place for so many tasks.
    public init(of count: Int) {
        state = Mutex(State(missing: count))
    }

    /// Waits for the others. Who comes behind the last of them does not wait.
    public func arrive() async {
        let place = state.withLock { state in
            state.missing -= 1
            return state.missing
        }
        await withTaskCancellationHandler {
            // Kept once under its place and the lock, and resumed by whoever takes it out: the last to arrive, or a
            // cancellation; or here, if there is nothing to wait for.
            await withCheckedContinuation { continuation in
                let released = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                    guard state.missing <= 0 || state.cancelled.contains(place) else {
                        state.waiting[place] = continuation
                        return []
                    }
                    guard state.missing <= 0 else { return [continuation] }
                    defer { state.waiting = [:] }
                    return [continuation] + state.waiting.values
                }
                for continuation in released { continuation.resume() }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                state.cancelled.insert(place)
                return state.waiting.removeValue(forKey: place)
            }
            continuation?.resume()
        }
    }
}
