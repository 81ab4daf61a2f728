public import Synchronization

/// A value that one task waits for and any other task provides. The first value counts.
///
///     let promise = Promise<Int>()
///     onReply { promise.fulfill($0) }
///     switch await promise.value() {
///     case .fulfilled(let number): …
///     case .cancelled, .deadlinePassed: …
///     }
public final class Promise<Value: Sendable>: Sendable {
    /// The outcome of a wait.
    public enum Outcome: Sendable {
        /// The value was provided in time.
        case fulfilled(Value)
        /// The waiting task was cancelled first.
        case cancelled
        /// The deadline of the wait passed first.
        case deadlinePassed
    }

    @usableFromInline
    enum State {
        case open
        case awaited(CheckedContinuation<Outcome, Never>)
        case settled(Outcome)
    }

    @usableFromInline let state = Mutex(State.open)

    /// Creates a promise without a value.
    @inlinable
    public init() {}

    /// Provides the value.
    ///
    /// - Returns: `true` if this is the first value and the wait had not ended, or `false` otherwise.
    @inlinable
    @discardableResult
    public func fulfill(_ value: Value) -> Bool { settle(.fulfilled(value)) }

    /// Ends the wait as if its task were cancelled, unless it has already ended.
    @discardableResult
    public func cancel() -> Bool { settle(.cancelled) }

    /// Waits for the value until the task is cancelled or a deadline passes.
    ///
    /// Only one task may wait, and only once. If the value was provided before the call, it is returned even if the
    /// task is cancelled.
    @inlinable
    public func value(until deadline: Deadline? = .current) async -> Outcome {
        let callOff = deadline?.whenPassed { self.settle(.deadlinePassed) }
        defer { callOff?() }
        return await withTaskCancellationHandler {
            // Stored under the lock and resumed once by `settle`, or resumed here if the promise is already settled.
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
