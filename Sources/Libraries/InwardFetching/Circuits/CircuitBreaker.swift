public import InwardCore
import Synchronization

/// Stops asking a source that fails, so that callers need not wait for it and it can recover.
///
/// While the circuit is closed it counts failures, and opens when there are too many. Open, it refuses requests for a while. Then
/// it is half open: a few requests are let through as probes. When all of them succeed it closes, and when one fails it opens
/// again, for longer. A probe that is cancelled, or ends in a way that says nothing about the source, gives its place to another
/// one; so does one that does not end, after the time that the circuit is open for at first.
///
/// Make one for each source, and share it on purpose among the chains that lead there:
///
///     let breaker = CircuitBreaker("users")
///     let impatient = fetcher.timingOut(after: .seconds(1)).breakingCircuit(breaker)
///     let patient = fetcher.timingOut(after: .seconds(30)).breakingCircuit(breaker)
public final class CircuitBreaker: Sendable, CustomStringConvertible {
    /// A new circuit breaker with the standard policy, which nobody else has: another one each time.
    public static var standard: CircuitBreaker { CircuitBreaker() }

    /// What it is called in messages and by observers.
    public let name: String
    /// When it opens and closes.
    public let policy: CircuitBreakerPolicy

    private let timer: TimerService
    /// Whether the time of each request matters, not only that of failures.
    private let needsTime: Bool
    private let circuit: Mutex<CircuitState>
    /// The generation of the closed circuit, as it is under the lock, and -1 while it is not closed: so that nothing is locked to
    /// let a request through when nothing is wrong. Whoever reads it a moment too late was let through a moment before.
    private let closedGeneration = Atomic(0)

    /// Makes a circuit breaker whose circuit is closed.
    ///
    /// - Parameters:
    ///   - name: What it is called in messages and by observers.
    ///   - policy: When it opens and closes.
    ///   - timer: What tells the time.
    public init(
        _ name: String = "circuit",
        policy: CircuitBreakerPolicy = .standard,
        timer: TimerService = .continuous
    ) {
        self.name = name
        self.policy = policy
        self.timer = timer
        needsTime = policy.window.isTimed || policy.slowCalls != nil
        circuit = Mutex(CircuitState(policy: policy, title: Self.title(name)))
    }

    /// What it does with requests now.
    public var state: State {
        let now = timer.now
        return circuit.withLock { circuit in
            switch circuit.phase {
            case .closed: .closed
            case .open: .open(remaining: circuit.timeLeft(at: now))
            case .halfOpen: .halfOpen
            case .isolated: .isolated
            }
        }
    }

    /// Refuses every request until ``close()``, whatever the source does. What is under way goes on, and counts for nothing.
    public func isolate() {
        change { $0.isolate() }
    }

    /// Lets every request through, and forgets everything that was. What is under way goes on, and counts for nothing.
    public func close() {
        change { _ = $0.close() }
    }

    /// The circuit and its state, such as `the circuit to users is half open`.
    public var description: String { "\(title) is \(state)" }

    /// What it is called in sentences.
    var title: String { Self.title(name) }

    /// Lets a request through.
    ///
    /// - Throws: a ``CircuitRejection`` if it is not.
    func permit() throws(CircuitRejection) -> ScopedPermit {
        let generation = closedGeneration.load(ordering: .acquiring)
        guard generation < 0 else {
            let start = policy.slowCalls == nil ? nil : timer.now
            return ScopedPermit(CircuitState.Permit(generation: generation), of: self, start: start)
        }
        let now = timer.now
        let permit = try change { circuit throws(CircuitRejection) in try circuit.admit(at: now) }
        return ScopedPermit(permit, of: self, start: now)
    }

    /// Takes back what was given to a request.
    ///
    /// - Parameters:
    ///   - permit: What the request was given.
    ///   - isFailure: Whether the source failed; `nil` if nothing came of the request that says anything.
    /// - Returns: what the circuit changed to because of it.
    func settle(_ permit: consuming ScopedPermit, isFailure: Bool?) -> CircuitChange? {
        guard let isFailure else { return nil }
        let (permit, start) = permit.use()
        guard needsTime || isFailure else {
            return change { $0.record(CallOutcome(isFailure: false), of: permit, at: nil) }
        }
        let now = timer.now
        var isSlow = false
        if let slowCalls = policy.slowCalls, let start { isSlow = now - start >= slowCalls.duration }
        return change { $0.record(CallOutcome(isFailure: isFailure, isSlow: isSlow), of: permit, at: now) }
    }

    /// Whether an answer is a failure; `nil` if it says nothing about the source.
    func isFailure(_ response: DataResponse) -> Bool? {
        response.status.isSuccess && response.isOfSource ? false : policy.isFailure(response)
    }

    /// Whether an error is a failure; `nil` if it says nothing about the source.
    func isFailure(_ error: FetchError) -> Bool? {
        // Who bounds the work cancels it when the time is up, and that is the source's.
        guard error.wasSent, error.reason == .cancelled, let deadline = Deadline.current, deadline.hasPassed else {
            return policy.isFailure(error)
        }
        return policy.failures.reasons.contains(.timedOut) ? true : nil
    }

    /// Takes a permit back of whose request nothing came that says anything.
    func release(_ permit: CircuitState.Permit) {
        change { $0.release(permit) }
    }

    private func change<Value, Failure>(
        _ body: (inout CircuitState) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try circuit.withLock { circuit throws(Failure) in
            defer { closedGeneration.store(circuit.phase == .closed ? circuit.generation : -1, ordering: .releasing) }
            return try body(&circuit)
        }
    }

    private static func title(_ name: String) -> String { name == "circuit" ? "the circuit" : "the circuit to \(name)" }
}

extension CircuitBreaker {
    /// What a circuit breaker does with requests.
    public enum State: Hashable, Sendable, CustomStringConvertible {
        /// It lets all of them through, and counts how they end.
        case closed
        /// It refuses them for so much longer; from zero on, the next one is let through as a probe.
        case open(remaining: Duration)
        /// It lets a few of them through as probes, and refuses the others.
        case halfOpen
        /// It refuses them until it is closed by hand.
        case isolated

        /// The state's name, as observers are told it: `closed`, `open`, `half open` or `isolated`.
        public var description: String {
            switch self {
            case .closed: CircuitPhase.closed.rawValue
            case .open: CircuitPhase.open.rawValue
            case .halfOpen: CircuitPhase.halfOpen.rawValue
            case .isolated: CircuitPhase.isolated.rawValue
            }
        }
    }
}

/// That a circuit lets a request not through.
struct CircuitRejection: Error, Hashable {
    /// The end of a sentence that begins with the request.
    let explanation: String
    /// When it can help to ask again, if that is known.
    let retryAfter: RetryAfter?
}

/// What a request has while it is under way through a circuit. Whatever becomes of the request, the permit ends with it: that of
/// a probe which goes without a word gives its place to another.
struct ScopedPermit: ~Copyable {
    let permit: CircuitState.Permit
    /// When the request was let through, if that matters.
    let start: Duration?
    /// Who gets the place back; nobody if the request is no probe, and without a count of references then.
    private var keeper: CircuitBreaker?

    init(_ permit: CircuitState.Permit, of breaker: CircuitBreaker, start: Duration?) {
        self.permit = permit
        self.start = start
        keeper = permit.isProbe ? breaker : nil
    }

    deinit { keeper?.release(permit) }

    /// Ends the permit without its place being given back, because somebody sees to that.
    consuming func use() -> (permit: CircuitState.Permit, start: Duration?) {
        keeper = nil
        return (permit, start)
    }
}
