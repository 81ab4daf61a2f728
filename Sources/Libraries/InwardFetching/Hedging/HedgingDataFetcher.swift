public import InwardCore

/// A data fetcher that sends a second attempt when the first is slow, and returns the first successful response.
///
/// ```swift
/// let hedged = client.hedging(after: .fixed(.milliseconds(300)))
/// let response = try await hedged.fetch(request)  // A second attempt begins after 300 milliseconds.
/// ```
///
/// Only `GET` and `HEAD` requests are hedged, because they are safe to repeat. The losing attempt is cancelled and awaited.
public struct HedgingDataFetcher: ReportingDataFetcher {
    /// The wrapped fetcher.
    public var base: any DataFetcher
    /// The description of this layer, with the delay.
    public let layer: DataFetcherLayer
    // A class, because observing a fetcher copies it, and copies share what they have learned.
    private let hedger: Hedger
    var observers = FetchObservers()

    init(_ base: any DataFetcher, delay: HedgingDelay, share: Double, timer: TimerService) {
        self.base = base
        layer = DataFetcherLayer(.hedging, "hedges after \(delay)")
        hedger = Hedger(delay, upTo: share, timer: timer)
    }

    /// Returns the response to the first attempt, or to the second one if it succeeds first.
    ///
    /// A response with a status of 500 or more counts as a failure, so the other attempt goes on.
    ///
    /// - Throws: Errors of the wrapped fetcher.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard request.method == .get || request.method == .head, !request.isSentOnce else {
            return try await base.fetch(request)
        }
        let hedged = HedgedRequest(base: base, request: request)
        return try await hedger.outcome(of: hedged) { observers.tell { $0.hedged(hedged.second) } }.get()
    }
}

/// A request that may have a second attempt.
private struct HedgedRequest: HedgedOperation {
    let base: any DataFetcher
    let request: DataRequest

    /// The request of the second attempt.
    var second: DataRequest {
        var second = request
        second.attempt += 1
        return second
    }

    func attempt(isFirst: Bool) async -> Result<DataResponse, FetchError> {
        let request = isFirst ? request : second
        return await Result(awaiting: { () async throws(FetchError) in try await base.fetch(request) })
    }

    func isDecisive(_ outcome: Result<DataResponse, FetchError>) -> Bool {
        if case .success(let response) = outcome { response.status.code < 500 } else { false }
    }
}

extension DataFetcher {
    /// Returns this fetcher with a second attempt for requests that take unusually long.
    ///
    /// Apply it outside the layers that limit attempts, such as timeouts and concurrency limits, so that they apply to both
    /// attempts.
    ///
    /// ```swift
    /// let hedged = client.timingOut(after: .seconds(2)).hedging(after: .percentile(95, atFirst: .milliseconds(500)))
    /// ```
    ///
    /// - Parameters:
    ///   - delay: The time after which the second attempt begins.
    ///   - share: The maximum fraction of requests with a second attempt, from 0 to 1.
    ///   - timer: The source of time.
    /// - Returns: The hedging fetcher.
    public func hedging(
        after delay: HedgingDelay,
        upTo share: Double = 0.05,
        timer: TimerService = .continuous
    ) -> HedgingDataFetcher {
        HedgingDataFetcher(self, delay: delay, share: share, timer: timer)
    }
}

/// The time that a first attempt may take before a second one begins.
///
/// ```swift
/// let fixed = HedgingDelay.fixed(.milliseconds(300))
/// let learned = HedgingDelay.percentile(95, atFirst: .milliseconds(500))
/// ```
public struct HedgingDelay: Hashable, Sendable {
    /// The delay until enough durations are known.
    let start: Duration
    /// The percentile of recent durations; `nil` for a fixed delay.
    let percent: Int?
    /// The number of recent durations to remember.
    let capacity: Int

    /// Returns a fixed delay.
    ///
    /// - Parameter delay: The delay; negative values count as zero.
    /// - Returns: The delay.
    public static func fixed(_ delay: Duration) -> Self {
        Self(start: max(.zero, delay), percent: nil, capacity: 1)
    }

    /// Returns a delay that follows a percentile of recent durations, so that only unusually slow requests are hedged. With 95,
    /// that is one in twenty.
    ///
    /// - Parameters:
    ///   - percent: The percentile, from 1 to 99.
    ///   - start: The delay until half of `capacity` durations are known; negative values count as zero.
    ///   - capacity: The number of recent durations to remember, from 10 to 10,000.
    /// - Returns: The delay.
    public static func percentile(_ percent: Int, atFirst start: Duration, ofLast capacity: Int = 200) -> Self {
        Self(
            start: max(.zero, start),
            percent: min(max(percent, 1), 99),
            capacity: min(max(capacity, 10), 10_000)
        )
    }
}

extension HedgingDelay: CustomStringConvertible {
    /// The delay as part of a sentence: `2.0 seconds`, `percentile 95 of recent durations`.
    public var description: String { percent.map { "percentile \($0) of recent durations" } ?? "\(start)" }
}
