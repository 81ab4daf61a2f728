import InwardCore

/// A data fetcher that sends no more requests at once than a limiter allows, and has the others wait or refuses them.
public struct LimitingConcurrencyDataFetcher: ReportingDataFetcher {
    /// What is wrapped.
    public var base: any DataFetcher
    private let limiter: ConcurrencyLimiter
    var observers = FetchObservers()

    init(_ base: any DataFetcher, limiter: ConcurrencyLimiter) {
        self.base = base
        self.limiter = limiter
    }

    /// How many requests are sent at once.
    public var layer: DataFetcherLayer {
        DataFetcherLayer(
            .concurrencyLimit,
            limiter.isAdaptive
                ? "sends as many at once as the source bears, now \(limiter.limit)"
                : "sends at most \(limiter.limit) at once"
        )
    }

    /// The wrapped fetcher's answer, as soon as there is room for the request.
    ///
    /// - Throws: a ``FetchError`` if the request was not sent: with ``FetchError/Reason/rejected`` if too many wait already or
    ///   it waited too long, with ``FetchError/Reason/timedOut`` if its deadline passed, with ``FetchError/Reason/cancelled``
    ///   if the task was cancelled meanwhile; otherwise what the wrapped fetcher throws.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        if !limiter.admit() { try await wait(request) }
        guard !limiter.isAdaptive else { return try await timed(request) }
        defer { limiter.release() }
        return try await base.fetch(request)
    }

    /// Apart from what a limit that is fixed needs, because it takes two looks at the clock.
    private func timed(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        let start = limiter.timer.now
        var outcome = AdaptiveLimit.Outcome.untold
        defer { limiter.release(outcome, from: start) }
        do {
            let response = try await base.fetch(request)
            // What fails fast, or comes from elsewhere, tells nothing of how much the source bears.
            if response.status.tellsOverload {
                outcome = .overloaded
            } else if response.isOfSource, response.status.code < 500 {
                outcome = .answered
            }
            return response
        } catch {
            if error.tellsOverload { outcome = .overloaded }
            throw error
        }
    }

    private func wait(_ request: DataRequest) async throws(FetchError) {
        do {
            try await limiter.wait(request)
        } catch {
            if error.reason == .rejected { observers.tell { $0.rejected(request, because: error) } }
            throw error
        }
    }
}

extension DataResponse.Status {
    /// Whether the source says that it was asked for too much.
    fileprivate var tellsOverload: Bool {
        switch code {
        case 429, 503, 504: true
        default: false
        }
    }
}

extension FetchError {
    /// Whether the source may have failed because it was asked for too much.
    fileprivate var tellsOverload: Bool {
        guard wasSent else { return false }
        return switch reason {
        case .timedOut, .interrupted, .unreachable: true
        // Whoever bounds the work cancels it when the time is up.
        case .cancelled: Deadline.current?.hasPassed ?? false
        default: false
        }
    }
}

extension DataFetcher {
    /// This fetcher with a limiter of its own, which lets so many requests be under way at once and 64 more wait.
    ///
    /// - Parameter count: How many; at least 1, and what is less counts as that.
    /// - Returns: the fetcher to hand requests to.
    public func limitingConcurrency(to count: Int) -> LimitingConcurrencyDataFetcher {
        limitingConcurrency(to: ConcurrencyLimiter(.fixed(count)))
    }

    /// This fetcher with a limiter for how many requests are under way at once, which other pipelines may share.
    ///
    /// Put it inside of retries, so that who waits to try again takes no room, and inside of the timeout that is to bound the
    /// waiting too.
    ///
    /// - Parameter limiter: What lets requests go.
    /// - Returns: the fetcher to hand requests to.
    public func limitingConcurrency(to limiter: ConcurrencyLimiter) -> LimitingConcurrencyDataFetcher {
        LimitingConcurrencyDataFetcher(self, limiter: limiter)
    }
}
