public import InwardCore
public import Synchronization

/// A task's wait for work that a store does on another thread.
///
/// The task stops waiting when it is cancelled or its deadline passes, unless the work has already begun. The type is inlinable, so
/// that the stores specialize it. Otherwise each operation would look up type metadata.
@usableFromInline
package final class RecordWait<Answer: Sendable>: Sendable {
    @usableFromInline package typealias Outcome = Result<Answer, RecordStoreError>

    @usableFromInline
    enum State {
        case new
        case waiting(CheckedContinuation<Outcome, Never>)
        /// The work has begun. The task waits for it unconditionally.
        case begun(CheckedContinuation<Outcome, Never>)
        case over(Outcome?)
    }

    @usableFromInline let state = Mutex(State.new)
    @usableFromInline let whenLeft: @Sendable () -> Void

    /// Creates a wait.
    ///
    /// - Parameter whenLeft: Called if the task stops waiting before the work has begun.
    @inlinable
    package init(whenLeft: @escaping @Sendable () -> Void = {}) {
        self.whenLeft = whenLeft
    }

    /// Calls `start`, and waits until ``end(_:)`` is called.
    ///
    /// - Throws: a `RecordStoreError`: the error of the work, or `cancelled` if the task stopped waiting.
    @inlinable
    package func value(_ start: () -> Void) async throws(RecordStoreError) -> Answer {
        guard !Task.isCancelled else { throw Self.cancellation }
        let deadline = Deadline.current
        guard deadline?.hasPassed != true else { throw Self.lateness }
        let callOff = deadline?.whenPassed { self.leave(Self.lateness) }
        defer { callOff?() }
        let outcome = await withTaskCancellationHandler {
            // Resumed exactly once: only the caller that takes the continuation out of the state, under the lock, resumes it.
            await withCheckedContinuation { continuation in
                let early: Outcome? = state.withLock { state in
                    if case .over(let outcome) = state { return outcome }
                    state = .waiting(continuation)
                    return nil
                }
                if let early { continuation.resume(returning: early) } else { start() }
            }
        } onCancel: {
            leave(Self.cancellation)
        }
        return try outcome.get()
    }

    /// Whether a task is waiting.
    @inlinable package var isWaiting: Bool { state.withLock { if case .waiting = $0 { true } else { false } } }

    /// Begins the work and returns `true`, unless the task has stopped waiting. After that, the task waits until the work ends.
    @inlinable
    package func begin() -> Bool {
        state.withLock { state in
            guard case .waiting(let continuation) = state else { return false }
            state = .begun(continuation)
            return true
        }
    }

    /// Ends the wait, unless the task has stopped waiting.
    @inlinable
    package func end(_ outcome: Outcome) {
        let continuation: CheckedContinuation<Outcome, Never>? = state.withLock { state in
            switch state {
            case .waiting(let continuation), .begun(let continuation):
                state = .over(nil)
                return continuation
            case .new:
                state = .over(outcome)
                return nil
            case .over: return nil
            }
        }
        continuation?.resume(returning: outcome)
    }

    @inlinable
    func leave(_ error: RecordStoreError) {
        let continuation: CheckedContinuation<Outcome, Never>? = state.withLock { state in
            switch state {
            case .new: state = .over(.failure(error))
            case .waiting(let continuation):
                state = .over(nil)
                return continuation
            case .begun, .over: break
            }
            return nil
        }
        guard let continuation else { return }
        continuation.resume(returning: .failure(error))
        whenLeft()
    }

    @usableFromInline static var cancellation: RecordStoreError {
        RecordStoreError(.cancelled, explanation: "The task was cancelled before the store started the operation.")
    }

    @usableFromInline static var lateness: RecordStoreError {
        RecordStoreError(
            .cancelled,
            explanation:
                "The deadline passed before the store started the operation. Another program may have it locked, or the disk is slow."
        )
    }
}
