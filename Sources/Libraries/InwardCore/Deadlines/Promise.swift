public import Synchronization

/// A value that one task waits for and any other task provides. The first value counts.
///
/// ```swift
/// let promise = Promise<Int>()
/// Task { promise.fulfill(7) }
/// switch await promise.value() {
/// case .fulfilled(let number): print(number)
/// case .cancelled: print("The waiting task was cancelled.")
/// case .deadlinePassed: print("The deadline of the waiting task passed.")
/// }
/// ```
public final class Promise<Value: Sendable>: Sendable {
    /// How a wait ended.
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

    /// Ends the wait with the outcome `cancelled`, unless it has already ended.
    ///
    /// - Returns: `true` if this call ended the wait.
    @discardableResult
    public func cancel() -> Bool { settle(.cancelled) }

    /// Waits for the value until the task is cancelled or a deadline passes.
    ///
    /// Only one task may wait, and only once. A value that was provided before the call is returned even if the task is
    /// cancelled.
    ///
    /// - Parameter deadline: The deadline of the wait, by default that of the current task. `nil` to wait without one.
    /// - Returns: The value, or why the wait ended without it.
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
