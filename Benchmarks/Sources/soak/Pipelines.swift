import Foundation
import InwardCore
import InwardFetching
import InwardRepositories

/// Two pipelines with every decorator, which share what can be shared. Each is also used with several client deadlines.
struct Pipelines: Sendable {
    /// The maximum size of a response.
    static let sizeLimit = 16_384
    /// The time limit for all attempts together.
    static let totalLimit = Duration.seconds(2)
    /// The deadlines of clients.
    static let limits: [Duration?] = [nil, .milliseconds(2), .milliseconds(20), .milliseconds(200)]

    let breaker: CircuitBreaker
    let fixed: ConcurrencyLimiter
    let adaptive: ConcurrencyLimiter
    /// Each pipeline without a client deadline, and with each of the deadlines.
    let fetchers: [[any DataFetcher]]

    /// Creates pipelines to an upstream.
    init(to upstream: Upstream, issuer: TokenIssuer, events: EventCounter, timer: TimerService) {
        let breaker = CircuitBreaker(
            "upstream",
            policy: CircuitBreakerPolicy(
                window: .calls(50),
                minimumCalls: 20,
                openDuration: .milliseconds(200),
                maximumOpenDuration: .seconds(1)
            ),
            timer: timer
        )
        let fixed = ConcurrencyLimiter(.fixed(12), waiting: 24, atMost: .milliseconds(50), timer: timer)
        let adaptive = ConcurrencyLimiter(.adaptive(in: 8...64, from: 16, tolerance: 5), waiting: 96, timer: timer)
        let rate = RateLimiter(3_000, per: .seconds(1), burst: 100, waitingAtMost: .milliseconds(30), timer: timer)
        let url = URL(string: "http://\(EchoingDataFetcher.guarded)/") ?? URL(filePath: "/")
        // No minimum interval between renewals, because the issuer revokes tokens all the time.
        let credentials = Credentials(for: url, allowingPlainHTTP: true, renewingAtMostEvery: .zero) {
            () async throws(FetchError) in
            try await issuer.renew(for: DataRequest(url: url))
        }
        let cache = ResponseCache(byteLimit: 1 << 20, clock: ContinuousClock())
        let budget = RetryBudget(timer: timer)
        let policy = RetryPolicy(
            baseDelay: .milliseconds(4),
            maximumDelay: .milliseconds(40),
            maximumRetryAfter: .seconds(1),
            budget: budget
        )

        func bounded(_ source: any DataFetcher) -> any DataFetcher {
            source
                .propagatingDeadline(in: EchoingDataFetcher.notice)
                .limitingSize(to: Self.sizeLimit)
                .timingOut(after: .milliseconds(150), timer: timer)
                .breakingCircuit(breaker)
                .limitingConcurrency(to: fixed)
                .limitingConcurrency(to: adaptive)
                .limitingRate(to: rate)
                .hedging(after: .percentile(90, atFirst: .milliseconds(10)), upTo: 0.1, timer: timer)
                .retrying(policy, timer: timer)
                .timingOut(after: Self.totalLimit, timer: timer)
        }
        // This fetcher is not an upstream, so its findings are discarded.
        let mirror = EchoingDataFetcher(issuer: issuer, findings: Findings())
        let chains: [any DataFetcher] = [
            bounded(upstream)
                .coalescing()
                .fallingBack(to: DataResponse())
                .authorizing(with: credentials)
                .caching(in: cache.makePartition()),
            bounded(HeedlessDataFetcher(base: upstream))
                .coalescing(whenAbandoned: .finish)
                .fallingBack(to: mirror)
                .authorizing(with: credentials)
                .caching(in: cache.makePartition()),
        ]
        self.breaker = breaker
        self.fixed = fixed
        self.adaptive = adaptive
        fetchers = chains.map { chain in
            Self.limits.map { limit in
                guard let limit else { return chain.observing(with: events, timer: timer) }
                return chain.timingOut(after: limit, timer: timer).observing(with: events, timer: timer)
            }
        }
    }

    /// Descriptions of the limits that are still busy although no requests are in flight.
    var unrest: [String] {
        [
            ("the fixed limit has requests in flight", fixed.underWay),
            ("the fixed limit has requests waiting", fixed.waiting),
            ("the adaptive limit has requests in flight", adaptive.underWay),
            ("the adaptive limit has requests waiting", adaptive.waiting),
        ].filter { $0.1 != 0 }.map { "\($0.0): \($0.1)" }
    }
}
