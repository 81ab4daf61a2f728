import InwardCore

/// A data fetcher that limits the number of concurrent requests. Requests beyond the limit wait or are rejected.
///
/// ```swift
/// let users = client.limitingConcurrency(to: ConcurrencyLimiter(.fixed(8), waiting: 100))
/// do {
///     print(try await users.fetch(request).status)
/// } catch where error.reason == .rejected {
///     print("\(error).")
/// }
/// ```
public struct LimitingConcurrencyDataFetcher: ReportingDataFetcher {
    /// The wrapped fetcher.
    public var base: any DataFetcher
    private let limiter: ConcurrencyLimiter
    var observers = FetchObservers()

    init(_ base: any DataFetcher, limiter: ConcurrencyLimiter) {
        self.base = base
        self.limiter = limiter
    }

    /// The description of this layer, with the limit.
    public var layer: DataFetcherLayer {
        DataFetcherLayer(
            .concurrencyLimit,
            limiter.isAdaptive
                ? "sends as many at once as the upstream handles, now \(limiter.limit)"
                : "sends at most \(limiter.limit) at once"
        )
    }

    /// Waits for a permit, sends the request, and returns the response.
    ///
    /// - Throws: A ``FetchError`` if the request was not sent: with ``FetchError/Reason/rejected`` if the queue is full or the
    ///   wait was too long, with ``FetchError/Reason/timedOut`` if the deadline passed, or with ``FetchError/Reason/cancelled``
    ///   if the task was cancelled while it waited; otherwise, errors of the wrapped fetcher.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        if !limiter.admit() { try await wait(request) }
        guard !limiter.isAdaptive else { return try await timed(request) }
        defer { limiter.release() }
        return try await base.fetch(request)
    }

    /// Sends a request under an adaptive limit. Fixed limits do not need this, and so save two reads of the clock.
    private func timed(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        let start = limiter.timer.now
        var outcome = AdaptiveLimit.Outcome.untold
        defer { limiter.release(outcome, from: start) }
        do {
            let response = try await base.fetch(request)
            // Fast failures, cached responses and fallbacks say nothing about the capacity of the upstream.
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

extension ConcurrencyLimiter {
    /// Waits until there is a permit for a request, as `wait()` does.
    ///
    /// - Throws: A ``FetchError`` if the request is rejected, cancelled, or too late.
    func wait(_ request: DataRequest) async throws(FetchError) {
        do {
            try await wait()
        } catch {
            throw FetchError(error, of: request)
        }
    }
}

extension DataResponse.Status {
    /// Whether the upstream reports overload.
    fileprivate var tellsOverload: Bool {
        switch code {
        case 429, 503, 504: true
        default: false
        }
    }
}

extension FetchError {
    /// Whether the upstream may have failed because of overload.
    fileprivate var tellsOverload: Bool {
        guard wasSent else { return false }
        return switch reason {
        case .timedOut, .interrupted, .unreachable: true
        // A timeout cancels the work when the deadline passes.
        case .cancelled: Deadline.current?.hasPassed ?? false
        default: false
        }
    }
}

extension DataFetcher {
    /// Returns this fetcher with a fixed concurrency limit of its own, whose queue holds 64 requests.
    ///
    /// ```swift
    /// let users = client.limitingConcurrency(to: 16).retrying(.standard)
    /// ```
    ///
    /// - Parameter count: The maximum number of concurrent requests; values below 1 count as 1.
    /// - Returns: The limited fetcher.
    public func limitingConcurrency(to count: Int) -> LimitingConcurrencyDataFetcher {
        limitingConcurrency(to: ConcurrencyLimiter(.fixed(count)))
    }

    /// Returns this fetcher with a concurrency limiter, which other pipelines may share.
    ///
    /// Apply it inside retries, so that a request holds no permit while it waits for a retry. A timeout outside it includes the
    /// wait for a permit; one inside it does not.
    ///
    /// ```swift
    /// let limiter = ConcurrencyLimiter(.fixed(32), waiting: 100)
    /// let orders = client.limitingConcurrency(to: limiter).retrying(.standard)
    /// ```
    ///
    /// - Parameter limiter: The limiter.
    /// - Returns: The limited fetcher.
    public func limitingConcurrency(to limiter: ConcurrencyLimiter) -> LimitingConcurrencyDataFetcher {
        LimitingConcurrencyDataFetcher(self, limiter: limiter)
    }
}
