public import Synchronization

/// A value that one task waits for and any other gives. The first one given counts.
@usableFromInline
package final class Promise<Value: Sendable>: Sendable {
    /// How a wait ended.
    @usableFromInline
    package enum Outcome: Sendable {
        case kept(Value)
        case cancelled
        case deadlinePassed
    }

    @usableFromInline
    enum State {
        case open
        case awaited(CheckedContinuation<Outcome, Never>)
        case settled(Outcome)
    }

    @usableFromInline let state = Mutex(State.open)

    @inlinable
    package init() {}

    /// Gives the value; `false` if the wait is over, or another value was given before.
    @inlinable
    @discardableResult
    package func keep(_ value: Value) -> Bool { settle(.kept(value)) }

    /// Ends the wait as the cancellation of its task does, unless it is over.
    @discardableResult
    package func cancel() -> Bool { settle(.cancelled) }

    /// Waits for the value, until the task is cancelled or a deadline has passed. Only one task may wait, and once.
    ///
    /// A value that is there already is given whatever else has happened.
    @inlinable
    package func value(until deadline: Deadline? = .current) async -> Outcome {
        let callOff = deadline?.whenPassed { self.settle(.deadlinePassed) }
        defer { callOff?() }
        return await withTaskCancellationHandler {
            // Kept under the lock, and resumed by whoever settles the promise, once; or here, if it is settled.
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state -> Outcome? in
                    if case .settled(let outcome) = state { return outcome }
                    state = .awaited(continuation)
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            settle(.cancelled)
        }
    }

    @inlinable
    @discardableResult
    func settle(_ outcome: Outcome) -> Bool {
        let (isFirst, continuation) = state.withLock { state -> (Bool, CheckedContinuation<Outcome, Never>?) in
            switch state {
            case .open:
                state = .settled(outcome)
                return (true, nil)
            case .awaited(let continuation):
                state = .settled(outcome)
                return (true, continuation)
            case .settled:
                return (false, nil)
            }
        }
        continuation?.resume(returning: outcome)
        return isFirst
    }
}
