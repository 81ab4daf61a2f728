public import InwardCore
import Synchronization

/// The circuit breaker, limits and retry budget of one upstream, with an ``UpstreamPolicy`` that you can replace at any time.
///
/// ```swift
/// let protection = UpstreamProtection("payments", by: try UpstreamPolicy(concurrency: 32))
/// let payments = client.protecting(by: protection)
/// protection.replacePolicy(try UpstreamPolicy(concurrency: 8))
/// ```
///
/// Create one for each upstream. All fetchers that it protects share the circuit breaker, the limits and the budget. After you
/// replace the policy, new requests use the new one, and requests under way keep the one that they began with.
public final class UpstreamProtection: Sendable {
    /// The state that requests share, and the policy that it was created with.
    struct Parts: Sendable {
        fileprivate(set) var edition = 0
        fileprivate(set) var policy: UpstreamPolicy
        fileprivate(set) var breaker: CircuitBreaker
        fileprivate(set) var rateLimiter: RateLimiter?
        fileprivate(set) var budget: RetryBudget
        let limiter: ConcurrencyLimiter
        let timer: TimerService

        init(_ policy: UpstreamPolicy, breaker: CircuitBreaker, timer: TimerService) {
            self.policy = policy
            self.breaker = breaker
            self.timer = timer
            limiter = ConcurrencyLimiter(.fixed(policy.concurrency), waiting: policy.queue, timer: timer)
            rateLimiter = policy.makeRateLimiter(timer)
            budget = policy.makeRetryBudget(timer)
        }
    }

    /// The name in messages and for observers.
    public let name: String
    private let state: Mutex<Parts>
    /// Changes with the policy, under the lock, and is read without it, so that requests do not contend for a lock.
    private let latestEdition = Atomic(0)

    /// Creates a protection with a closed circuit.
    ///
    /// - Parameters:
    ///   - name: The name in messages and for observers.
    ///   - policy: The configuration of the layers.
    ///   - timer: The source of time for all limits.
    public init(_ name: String = "upstream", by policy: UpstreamPolicy = .standard, timer: TimerService = .continuous) {
        self.name = name
        state = Mutex(Parts(policy, breaker: policy.makeCircuitBreaker(name, timer: timer), timer: timer))
    }

    /// The current policy.
    public var policy: UpstreamPolicy { parts.policy }
    /// The circuit breaker of the current policy.
    public var circuitBreaker: CircuitBreaker { parts.breaker }
    /// The number of requests under way. After you lower the concurrency, it exceeds the limit until enough of them have ended.
    public var underWay: Int { parts.limiter.underWay }
    /// The number of requests that wait in the queue.
    public var waiting: Int { parts.limiter.waiting }

    /// Replaces the policy. Requests under way keep the old one, and later requests use the new one.
    ///
    /// State whose settings do not change is kept. Otherwise:
    ///
    /// - A new concurrency counts requests under way, and also applies to waiting requests.
    /// - A new rate counts requests that were sent at the old rate.
    /// - A new failure rate threshold or open duration replaces the circuit with a closed one, or an isolated one if it was
    ///   isolated.
    /// - A new retry share begins with a full reserve.
    public func replacePolicy(_ policy: UpstreamPolicy) {
        let admitted = state.withLock { parts in
            let admitted = parts.replacePolicy(policy, named: name)
            latestEdition.store(parts.edition, ordering: .releasing)
            return admitted
        }
        admitted()
    }

    var parts: Parts { state.withLock(\.self) }

    var edition: Int { latestEdition.load(ordering: .acquiring) }
}

extension UpstreamProtection.Parts {
    /// Replaces the policy.
    ///
    /// - Returns: Work to do without a lock, which resumes the requests that the new limit admits.
    fileprivate mutating func replacePolicy(_ new: UpstreamPolicy, named name: String) -> () -> Void {
        let old = policy
        policy = new
        edition += 1
        if new.circuitBreakerPolicy != old.circuitBreakerPolicy {
            let isIsolated = breaker.state == .isolated
            breaker = new.makeCircuitBreaker(name, timer: timer)
            if isIsolated { breaker.isolate() }
        }
        if new.retryShare != old.retryShare { budget = new.makeRetryBudget(timer) }
        if new.requestsPerSecond != old.requestsPerSecond || new.requestTimeLimit != old.requestTimeLimit {
            let limiter = new.makeRateLimiter(timer)
            if let rateLimiter { limiter?.takeOver(from: rateLimiter) }
            rateLimiter = limiter
        }
        return limiter.change(to: new.concurrency, waiting: new.queue)
    }

    /// Returns a client in the layers of the policy, without coalescing.
    func layers(around client: any DataFetcher) -> any DataFetcher {
        let source: any DataFetcher =
            if let deadlineField = policy.deadlineField {
                client.propagatingDeadline(in: deadlineField)
            } else {
                client
            }
        let attempts = source.timingOut(after: policy.attemptTimeLimit, timer: timer).limitingConcurrency(to: limiter)
        let limited: any DataFetcher = if let rateLimiter { attempts.limitingRate(to: rateLimiter) } else { attempts }
        // The breaker wraps the limits, so that an open circuit fails requests at once instead of after a wait in the queue.
        return
            limited
            .breakingCircuit(breaker)
            .retrying(RetryPolicy(attempts: policy.attempts, budget: budget), timer: timer)
            .timingOut(after: policy.requestTimeLimit, timer: timer)
    }
}

extension UpstreamPolicy {
    var circuitBreakerPolicy: CircuitBreakerPolicy {
        CircuitBreakerPolicy(failureRateThreshold: failureRateThreshold, openDuration: openDuration)
    }

    fileprivate func makeRateLimiter(_ timer: TimerService) -> RateLimiter? {
        requestsPerSecond.map { count in
            RateLimiter(count, per: .seconds(1), burst: count, waitingAtMost: requestTimeLimit, timer: timer)
        }
    }

    fileprivate func makeRetryBudget(_ timer: TimerService) -> RetryBudget {
        // A share of 0 allows no retries at all, so it gets no reserve either.
        RetryBudget(share: retryShare, reserve: retryShare > 0 ? 10 : 0, timer: timer)
    }
}

extension DataFetcher {
    /// Returns this fetcher inside the layers of an upstream's protection, with coalescing around them.
    ///
    /// In addition to the cost of the layers, each request takes a lock. Other fetchers do not use this lock.
    ///
    /// - Parameter protection: The protection, which other fetchers for the same upstream may share.
    /// - Returns: The outermost layer.
    public func protecting(by protection: UpstreamProtection) -> any DataFetcher {
        ProtectedDataFetcher(self, by: protection).coalescing()
    }
}

/// A data fetcher that creates its layers from a policy. It is not a decorator, because its layers change. Pipelines list the
/// current layers, and observers receive the events of these layers.
protocol LayeredDataFetcher: DataFetcher {
    /// The fetcher inside the layers.
    var client: any DataFetcher { get set }
    /// The current layers, with the observers in each of them.
    var layers: any DataFetcher { get }
    /// The observers, innermost first, each with its source of time.
    var observers: [(observer: any FetchObserver, timer: TimerService)] { get set }
}

/// A data fetcher inside the layers of an ``UpstreamProtection``.
struct ProtectedDataFetcher: LayeredDataFetcher {
    /// The layers for the newest policy that a request has seen.
    private final class Current: Sendable {
        let layers = Mutex<(edition: Int, outermost: any DataFetcher)?>(nil)
    }

    var client: any DataFetcher { didSet { current = Current() } }
    private let protection: UpstreamProtection
    var observers: [(observer: any FetchObserver, timer: TimerService)] { didSet { current = Current() } }
    private var current = Current()

    init(
        _ client: any DataFetcher,
        by protection: UpstreamProtection,
        observers: [(observer: any FetchObserver, timer: TimerService)] = []
    ) {
        self.client = client
        self.protection = protection
        self.observers = observers
    }

    var honorsDeadlines: Bool { client.honorsDeadlines }

    var layers: any DataFetcher {
        current.layers.withLock { layers in
            if let layers, layers.edition == protection.edition { return layers.outermost }
            let parts = protection.parts
            let outermost = observers.reduce(parts.layers(around: client)) { fetcher, observer in
                fetcher.told(to: observer.observer, timer: observer.timer)
            }
            layers = (parts.edition, outermost)
            return outermost
        }
    }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse { try await layers.fetch(request) }
}
