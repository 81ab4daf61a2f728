import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A transfer that somebody waits for: it ends once, by whatever comes first, and tells who waits.
final class PendingTransfer: Sendable {
    typealias Outcome = URLSessionTransfer.Outcome

    private struct State {
        var transfer: URLSessionTransfer
        var task: URLSessionTask?
        var outcome: Outcome?
        var continuation: CheckedContinuation<Outcome, Never>?
    }

    private let state: Mutex<State>

    init(_ transfer: URLSessionTransfer) {
        state = Mutex(State(transfer: transfer))
    }

    /// Whether nothing has ended the transfer yet.
    var isUnderWay: Bool { state.withLock { $0.outcome == nil } }

    /// Begins to carry the transfer out, unless it has ended: from now on the upstream may have seen the request.
    func start() -> Bool {
        state.withLock { state in
            guard state.outcome == nil else { return false }
            state.transfer.hasBegun = true
            return true
        }
    }

    /// The task that carries the transfer out, once it has begun.
    var task: URLSessionTask? {
        get { state.withLock(\.task) }
        set { state.withLock { $0.task = newValue } }
    }

    /// Begins, and waits until the transfer ends. For one caller.
    func outcome(begin: () -> Void) async -> Outcome {
        // Resumed exactly once: by the step that ends the transfer, which takes the continuation out under the lock; or
        // here, if that step came first.
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state in
                if state.outcome == nil { state.continuation = continuation }
                return state.outcome
            }
            if let outcome { continuation.resume(returning: outcome) } else { begin() }
        }
    }

    /// Takes a step of the transfer unless it has ended, and ends it if the step says how.
    func advance(_ step: (inout URLSessionTransfer) -> Outcome?) {
        let ended = state.withLock { state -> (CheckedContinuation<Outcome, Never>?, Outcome)? in
            guard state.outcome == nil, let outcome = step(&state.transfer) else { return nil }
            defer { state.continuation = nil }
            state.outcome = outcome
            return (state.continuation, outcome)
        }
        if let (continuation, outcome) = ended { continuation?.resume(returning: outcome) }
    }
}
