public import InwardCore

extension ResilientOperation {
    /// Returns this operation with an observer for the events in all its decorators.
    ///
    /// These report to the observer: the decorators that you added before, those of a fallback, and the operation itself, at
    /// the end of each execution. Decorators that you add later do not report.
    ///
    /// ```swift
    /// struct Printer: FetchObserver {
    ///     func operation(_ name: String, _ event: OperationEvent) { print(name, event) }
    /// }
    /// let operation = ResilientOperation("the user query") { (id: Int) in "user \(id)" }
    /// let observed = operation.retrying { _ in .again }.observing(with: Printer())
    /// ```
    ///
    /// - Parameters:
    ///   - observer: The observer; `nil` for none, which has no overhead.
    ///   - timer: The source of time.
    /// - Returns: The observed operation.
    public func observing(with observer: (any FetchObserver)?, timer: TimerService = .continuous) -> Self {
        guard let observer else { return self }
        return wrapped { input, observers async throws(AttemptError) in
            let start = timer.now
            // Outer decorators receive the original error. The observer receives it as an error of the operation.
            var cause: AttemptError?
            do throws(Failure) {
                let output = try await observer.surroundOperation(.call(name)) { () async throws(Failure) in
                    do throws(AttemptError) {
                        return try await attempt(input, observers.adding(observer, timer))
                    } catch {
                        cause = error
                        throw converted(error)
                    }
                }
                observer.operation(name, .ended(error: nil, after: timer.now - start))
                return output
            } catch {
                observer.operation(name, .ended(error: error, after: timer.now - start))
                throw cause ?? .operation(error)
            }
        }
    }
}

/// The observers of a call, which each decorator passes on to what it wraps.
struct CallObservers: Sendable {
    private var observers = FetchObservers()
    /// The source of time of the innermost observer; `nil` if there is none.
    private var timer: TimerService?

    /// The current time; `nil` if there are no observers.
    var now: Duration? { timer?.now }

    /// Returns these observers with another one inside them.
    func adding(_ observer: any FetchObserver, _ timer: TimerService) -> Self {
        var all = self
        all.observers.prepend(observer)
        all.timer = timer
        return all
    }

    /// Reports an event, which is created only if there are observers.
    func tell(_ name: String, _ event: @autoclosure () -> OperationEvent) {
        guard timer != nil else { return }
        let event = event()
        observers.tell { $0.operation(name, event) }
    }

    /// Lets the observers wrap the operation itself.
    func surroundAttempt<Output: Sendable, Failure: Error>(
        at name: String,
        _ work: () async throws(Failure) -> Output
    ) async throws(Failure) -> Output {
        try await observers.surroundOperation(.attempt(name), work)
    }

    /// Reports the end of an execution of the operation.
    func tell(_ name: String, attemptSince start: Duration?, error: (any Error)?) {
        guard let now, let start else { return }
        tell(name, .attemptEnded(error: error, after: now - start))
    }

    /// Reports a state transition of a circuit, if there was one.
    func tell(_ change: CircuitChange?, of breaker: CircuitBreaker) { observers.tell(change, of: breaker) }

    /// Returns an error, and reports it if it is a rejection.
    func told<Input, Output, Failure>(
        _ error: AttemptFailure<Failure>,
        of operation: ResilientOperation<Input, Output, Failure>
    ) -> AttemptFailure<Failure> {
        if case .resilience(let error) = error, error.reason == .rejected { tell(operation.name, .rejected(error)) }
        return error
    }
}
