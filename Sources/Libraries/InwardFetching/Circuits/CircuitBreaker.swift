public import InwardCore
import Synchronization

/// A circuit breaker, which stops sending requests to a failing upstream so that callers fail fast and the upstream can
/// recover.
///
/// While the circuit is closed, it counts failures, and opens when there are too many. While it is open, it rejects requests.
/// After a while it becomes half open and permits a few requests as probes. If all of them succeed, the circuit closes. If one
/// fails, the circuit opens again for longer.
///
/// If a probe is cancelled, says nothing about the upstream, or takes longer than the initial open duration, another request
/// gets its permit. So a circuit cannot stay half open forever.
///
/// Create one breaker for each upstream, and share it among the pipelines that lead there:
///
/// ```swift
/// let breaker = CircuitBreaker("users")
/// let impatient = client.timingOut(after: .seconds(1)).breakingCircuit(breaker)
/// let patient = client.timingOut(after: .seconds(30)).breakingCircuit(breaker)
/// ```
public final class CircuitBreaker: Sendable, CustomStringConvertible {
    /// A new circuit breaker with the standard policy. Each access creates another one.
    public static var standard: CircuitBreaker { CircuitBreaker() }

    /// The name in messages and for observers.
    public let name: String
    /// The policy that opens and closes the circuit.
    public let policy: CircuitBreakerPolicy

    private let timer: TimerService
    /// Whether the policy needs the times of successful requests too, not only those of failures.
    private let needsTime: Bool
    private let circuit: Mutex<CircuitStateMachine>
    /// The generation of the closed circuit, or -1 in any other state. It changes under the lock but is read without it, so
    /// that a closed circuit permits requests without locking. A request that reads an outdated value counts as if it had been
    /// permitted before the change.
    private let closedGeneration = Atomic(0)

    /// Creates a circuit breaker whose circuit is closed.
    ///
    /// - Parameters:
    ///   - name: The name in messages and for observers.
    ///   - policy: The policy that opens and closes the circuit.
    ///   - timer: The source of time.
    public init(
        _ name: String = "circuit",
        policy: CircuitBreakerPolicy = .standard,
        timer: TimerService = .continuous
    ) {
        self.name = name
        self.policy = policy
        self.timer = timer
        needsTime = policy.window.isTimed || policy.slowCalls != nil
        circuit = Mutex(CircuitStateMachine(policy: policy, title: Self.title(name)))
    }

    /// The current state of the circuit.
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

    /// Rejects every request until ``close(telling:)``. Requests under way continue, but their outcomes no longer count.
    ///
    /// ```swift
    /// let breaker = CircuitBreaker("users")
    /// breaker.isolate()
    /// breaker.close()
    /// ```
    ///
    /// - Parameter observer: Receives the state transition, because no pipeline reports it; `nil` for none.
    public func isolate(telling observer: (any FetchObserver)? = nil) {
        tell(change { $0.isolate() }, to: observer)
    }

    /// Closes the circuit and resets its counts. Requests under way continue, but their outcomes no longer count.
    ///
    /// - Parameter observer: Receives the state transition, because no pipeline reports it; `nil` for none.
    public func close(telling observer: (any FetchObserver)? = nil) {
        tell(change { $0.close() }, to: observer)
    }

    private func tell(_ change: CircuitChange, to observer: (any FetchObserver)?) {
        guard change.from != change.to else { return }
        observer?.circuitChanged(name, from: change.from.rawValue, to: change.to.rawValue)
    }

    /// The circuit and its state, such as `the circuit to users is half open`.
    public var description: String { "\(title) is \(state)" }

    /// The circuit's name in sentences.
    var title: String { Self.title(name) }

    /// Returns a permit for a request.
    ///
    /// - Throws: A ``CircuitRejection`` if the circuit rejects the request.
    func permit() throws(CircuitRejection) -> ScopedPermit {
        let generation = closedGeneration.load(ordering: .acquiring)
        guard generation < 0 else {
            let start = policy.slowCalls == nil ? nil : timer.now
            return ScopedPermit(CircuitStateMachine.Permit(generation: generation), of: self, start: start)
        }
        let now = timer.now
        let permit = try change { circuit throws(CircuitRejection) in try circuit.admit(at: now) }
        return ScopedPermit(permit, of: self, start: now)
    }

    /// Takes back a permit and records the outcome of its request.
    ///
    /// - Parameters:
    ///   - permit: The request's permit.
    ///   - isFailure: Whether the upstream failed; `nil` if the outcome says nothing about the upstream.
    /// - Returns: The resulting state transition, if any.
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

    /// Returns whether a response is a failure; `nil` if it says nothing about the upstream.
    func isFailure(_ response: DataResponse) -> Bool? {
        response.status.isSuccess && response.isOfSource ? false : policy.isFailure(response)
    }

    /// Returns whether an error is a failure; `nil` if it says nothing about the upstream.
    func isFailure(_ error: FetchError) -> Bool? {
        // A timeout cancels the work when the deadline passes, so this cancellation counts as a timeout of the upstream.
        guard error.wasSent, error.reason == .cancelled, let deadline = Deadline.current, deadline.hasPassed else {
            return policy.isFailure(error)
        }
        return policy.failures.reasons.contains(.timedOut) ? true : nil
    }

    /// Takes back the permit of a request whose outcome says nothing about the upstream.
    func release(_ permit: CircuitStateMachine.Permit) {
        change { $0.release(permit) }
    }

    private func change<Value, Failure>(
        _ body: (inout CircuitStateMachine) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try circuit.withLock { circuit throws(Failure) in
            defer { closedGeneration.store(circuit.phase == .closed ? circuit.generation : -1, ordering: .releasing) }
            return try body(&circuit)
        }
    }

    private static func title(_ name: String) -> String { name == "circuit" ? "the circuit" : "the circuit to \(name)" }
}

extension CircuitBreaker {
    /// A state of a circuit breaker.
    public enum State: Hashable, Sendable, CustomStringConvertible {
        /// The circuit permits all requests and counts their outcomes.
        case closed
        /// The circuit rejects requests for the remaining time. At zero, it permits the next request as a probe.
        case open(remaining: Duration)
        /// The circuit permits a few requests as probes and rejects the others.
        case halfOpen
        /// The circuit rejects all requests until you close it.
        case isolated

        /// The state's name, as reported to observers: `closed`, `open`, `half open` or `isolated`.
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

/// The rejection of a request by a circuit.
struct CircuitRejection: Error, Hashable {
    /// What happened, as the end of a sentence that begins with the request.
    let explanation: String
    /// The earliest time for a retry, if known.
    let retryAfter: RetryAfter?
}

/// The permit of a request under way. When it is destroyed, a probe's permit returns to the circuit, however the request ended.
struct ScopedPermit: ~Copyable {
    let permit: CircuitStateMachine.Permit
    /// The time at which the request was permitted, if the policy needs it.
    let start: Duration?
    /// The breaker to which a probe returns its permit. It is `nil` for other requests, to avoid reference counting.
    private var keeper: CircuitBreaker?

    init(_ permit: CircuitStateMachine.Permit, of breaker: CircuitBreaker, start: Duration?) {
        self.permit = permit
        self.start = start
        keeper = permit.isProbe ? breaker : nil
    }

    deinit { keeper?.release(permit) }

    /// Consumes the permit. The caller must return it to the circuit.
    consuming func use() -> (permit: CircuitStateMachine.Permit, start: Duration?) {
        keeper = nil
        return (permit, start)
    }
}

/// A data fetcher that rejects requests while its circuit is open.
///
/// ```swift
/// let users = client.breakingCircuit(CircuitBreaker("users"))
/// do {
///     print(try await users.fetch(request).status)
/// } catch where error.reason == .rejected {
///     if case .delay(let delay) = error.retryAfter { print("The circuit is open. Try again in \(delay).") }
/// }
/// ```
public struct BreakingCircuitDataFetcher: ReportingDataFetcher {
    /// The wrapped fetcher.
    public var base: any DataFetcher
    /// The circuit breaker, which other fetchers may share.
    public let breaker: CircuitBreaker
    var observers = FetchObservers()

    init(_ base: any DataFetcher, breaker: CircuitBreaker) {
        self.base = base
        self.breaker = breaker
    }

    /// The description of this layer, with the circuit's name.
    public var layer: DataFetcherLayer {
        DataFetcherLayer(.circuitBreaker, "rejects requests while \(breaker.title) is open")
    }

    /// Returns the wrapped fetcher's response if the circuit permits the request.
    ///
    /// - Throws: A ``FetchError`` with ``FetchError/Reason/rejected`` if the circuit rejects the request; otherwise, errors
    ///   of the wrapped fetcher.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        let permit = try permit(for: request)
        let response: DataResponse
        do {
            response = try await base.fetch(request)
        } catch {
            observers.tell(breaker.settle(permit, isFailure: breaker.isFailure(error)), of: breaker)
            throw error
        }
        observers.tell(breaker.settle(permit, isFailure: breaker.isFailure(response)), of: breaker)
        return response
    }

    private func permit(for request: DataRequest) throws(FetchError) -> ScopedPermit {
        do {
            let permit = try breaker.permit()
            observers.tell(permit.permit.change, of: breaker)
            return permit
        } catch {
            let error = FetchError(
                .rejected,
                request: request,
                explanation: error.explanation,
                retryAfter: error.retryAfter
            )
            observers.tell { $0.rejected(request, because: error) }
            throw error
        }
    }
}

extension DataFetcher {
    /// Returns this fetcher with a circuit breaker, which rejects requests for a while after too many failures.
    ///
    /// ```swift
    /// let users = client.timingOut(after: .seconds(2)).breakingCircuit(CircuitBreaker("users")).retrying(.standard)
    /// ```
    ///
    /// - Parameter breaker: The circuit breaker. Share one among all fetchers for the same upstream;
    ///   ``CircuitBreaker/standard`` creates one for this fetcher alone.
    /// - Returns: The fetcher with the circuit breaker.
    public func breakingCircuit(_ breaker: CircuitBreaker) -> BreakingCircuitDataFetcher {
        BreakingCircuitDataFetcher(self, breaker: breaker)
    }
}
