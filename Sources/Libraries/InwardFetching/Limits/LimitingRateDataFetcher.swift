public import InwardCore

/// A data fetcher that sends no more requests in a time than a limiter allows, and has the others wait or refuses them.
public struct LimitingRateDataFetcher: TellingDataFetcher {
    /// What is wrapped.
    public var base: any DataFetcher
    private let limiter: RateLimiter
    var observers = FetchObservers()

    init(_ base: any DataFetcher, limiter: RateLimiter) {
        self.base = base
        self.limiter = limiter
    }

    /// How many requests are sent in a time.
    public var layer: DataFetcherLayer { DataFetcherLayer(.rateLimit, "sends at most \(limiter.description)") }

    /// The wrapped fetcher's answer, as soon as it is the request's turn.
    ///
    /// - Throws: a ``FetchError`` with ``FetchError/Reason/rejected``, which says when it can help to ask again, if the request
    ///   would have to wait too long, or beyond its deadline; with ``FetchError/Reason/timedOut`` if that has passed already;
    ///   with ``FetchError/Reason/cancelled`` if the task is cancelled while it waits; otherwise what the wrapped fetcher throws.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        let turn: TokenBucket.Turn
        if let free = limiter.admit() { turn = free } else { turn = try await wait(request) }
        do {
            return try await base.fetch(request)
        } catch {
            if !error.wasSent { limiter.putBack(turn) }
            throw error
        }
    }

    private func wait(_ request: DataRequest) async throws(FetchError) -> TokenBucket.Turn {
        do {
            return try await limiter.wait(request)
        } catch {
            if error.reason == .rejected { observers.tell { $0.rejected(request, because: error) } }
            throw error
        }
    }
}

extension DataFetcher {
    /// This fetcher with a limiter of its own for how many requests are sent in a time.
    ///
    /// - Parameters:
    ///   - count: How many may be sent in a period, from 1 to 1,000,000,000.
    ///   - period: How long that is, from a nanosecond to 1,000,000,000 seconds.
    ///   - burst: How many may be sent at once when none was for a while, from 1 to 1,000,000,000.
    ///   - patience: How long one may wait for its turn; with zero or less, who comes too soon is refused.
    ///   - timer: What tells the time.
    /// - Returns: the fetcher to hand requests to.
    public func limitingRate(
        to count: Int,
        per period: Duration,
        burst: Int = 1,
        waitingAtMost patience: Duration = .seconds(1),
        timer: TimerService = .continuous
    ) -> LimitingRateDataFetcher {
        limitingRate(to: RateLimiter(count, per: period, burst: burst, waitingAtMost: patience, timer: timer))
    }

    /// This fetcher with a limiter for how many requests are sent in a time, which other pipelines may share.
    ///
    /// Put it inside of retries, because each attempt is sent.
    ///
    /// - Parameter limiter: What lets requests go.
    /// - Returns: the fetcher to hand requests to.
    public func limitingRate(to limiter: RateLimiter) -> LimitingRateDataFetcher {
        LimitingRateDataFetcher(self, limiter: limiter)
    }
}
