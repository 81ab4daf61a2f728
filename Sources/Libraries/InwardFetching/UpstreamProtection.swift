public import InwardCore
import Synchronization

/// What protects an upstream and its callers: a circuit breaker, limits and a retry budget, by the numbers of an ``UpstreamPolicy``
/// that can be replaced at any time.
///
///     let protection = UpstreamProtection("orders", by: try UpstreamPolicy(concurrency: 32))
///     let orders = URLSessionDataFetcher().protecting(by: protection)
///     protection.replacePolicy(try UpstreamPolicy(concurrency: 8))
///
/// Create one for each upstream. All fetchers that it protects share the breaker, the limits and the budget, and use the new policy from
/// their next request on. Requests under way end by the policy with which they began.
public final class UpstreamProtection: Sendable {
    /// The state that requests share, and the numbers by which they are made.
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
    /// Changes with the policy, under the lock, and is read without it, so that requests need no lock that all of them share.
    private let latestEdition = Atomic(0)

    /// Creates a protection with a closed circuit.
    ///
    /// - Parameters:
    ///   - name: The name in messages and for observers.
    ///   - policy: The numbers.
    ///   - timer: The source of time for all limits.
    public init(_ name: String = "upstream", by policy: UpstreamPolicy = .standard, timer: TimerService = .continuous) {
        self.name = name
        state = Mutex(Parts(policy, breaker: policy.makeCircuitBreaker(name, timer: timer), timer: timer))
    }

    /// The current policy.
    public var policy: UpstreamPolicy { parts.policy }
    /// The circuit breaker of the current policy.
    public var circuitBreaker: CircuitBreaker { parts.breaker }
    /// The number of requests under way, which temporarily exceeds the policy's concurrency after that has fallen.
    public var underWay: Int { parts.limiter.underWay }
    /// The number of requests that wait for others to end.
    public var waiting: Int { parts.limiter.waiting }

    /// Replaces the policy. Requests under way end by the old one, and later requests use the new one.
    ///
    /// What does not change is kept: the circuit with its counts, the retry budget, and the limits. A new concurrency applies to the
    /// requests that wait too, and those under way count. A new rate counts what was sent by the old one. Only a circuit with new numbers
    /// begins closed, or isolated if it was, and a new share of retries begins with a full reserve.
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
    /// - Returns: work to do without a lock, which lets requests go that the new limit admits.
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
    /// Returns this fetcher, which sends requests to an upstream, inside of the layers of the upstream's protection, with coalescing
    /// around them.
    ///
    /// In addition to the layers, a request costs an atomic read and a lock that only requests through this fetcher share.
    ///
    /// - Parameter protection: The protection, which other fetchers for the same upstream may share.
    /// - Returns: the outermost layer.
    public func protecting(by protection: UpstreamProtection) -> any DataFetcher {
        ProtectedDataFetcher(self, by: protection).coalescing()
    }
}

/// A data fetcher that makes its layers by a policy. It is no decorator, because the layers that it has now are not those that it will
/// have, and yet a pipeline shows them, and observers are told of what happens in them.
protocol LayeredDataFetcher: DataFetcher {
    /// The current layers, with the observers in each of them.
    var layers: any DataFetcher { get }
    /// The observers, innermost first, each with its source of time.
    var observers: [(observer: any FetchObserver, timer: TimerService)] { get set }
}

/// A data fetcher in the layers of an ``UpstreamProtection``.
struct ProtectedDataFetcher: LayeredDataFetcher {
    /// The layers for the latest policy that a request has met.
    private final class Current: Sendable {
        let layers = Mutex<(edition: Int, outermost: any DataFetcher)?>(nil)
    }

    private let client: any DataFetcher
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
