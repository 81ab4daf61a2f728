import Foundation
import InwardCore
import InwardFetching
import InwardRepositories

/// Two pipelines of every decorator, each with several deadlines around it, which share what can be shared.
struct Pipelines: Sendable {
    /// How large an answer may be.
    static let sizeLimit = 16_384
    /// How long all attempts together may take.
    static let totalLimit = Duration.seconds(2)
    /// The deadlines of clients.
    static let limits: [Duration?] = [nil, .milliseconds(2), .milliseconds(20), .milliseconds(200)]

    let breaker: CircuitBreaker
    let fixed: ConcurrencyLimiter
    let adaptive: ConcurrencyLimiter
    /// Each pipeline without a deadline of the client, and then with each of these.
    let fetchers: [[any DataFetcher]]

    /// Makes pipelines to an upstream.
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
        // No time apart, because the issuer takes tokens back all the time.
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
        // No upstream, so what it finds is no finding.
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

    /// What is not at rest, though nobody asks for anything.
    var unrest: [String] {
        [
            ("the fixed limit has requests under way", fixed.underWay),
            ("the fixed limit has requests waiting", fixed.waiting),
            ("the adaptive limit has requests under way", adaptive.underWay),
            ("the adaptive limit has requests waiting", adaptive.waiting),
        ].filter { $0.1 != 0 }.map { "\($0.0): \($0.1)" }
    }
}
