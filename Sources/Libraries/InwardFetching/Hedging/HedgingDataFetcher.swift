public import InwardCore
import Synchronization

/// A data fetcher that sends a second attempt when the first is slow, and returns the first successful response.
///
/// Only `GET` and `HEAD` requests are hedged, because they are safe to repeat. The other attempt is cancelled and awaited.
public struct HedgingDataFetcher: ReportingDataFetcher {
    /// The policy that all copies of the fetcher share. Observing a fetcher copies it.
    private final class Record: Sendable {
        let policy: Mutex<HedgingPolicy>

        init(_ policy: HedgingPolicy) {
            self.policy = Mutex(policy)
        }
    }

    /// The wrapped fetcher.
    public var base: any DataFetcher
    /// The description of this layer, with the delay.
    public let layer: DataFetcherLayer
    private let record: Record
    private let learns: Bool
    private let timer: TimerService
    var observers = FetchObservers()

    init(_ base: any DataFetcher, delay: HedgingDelay, share: Double, timer: TimerService) {
        self.base = base
        layer = DataFetcherLayer(.hedging, "asks again after \(delay)")
        record = Record(HedgingPolicy(delay, share: share))
        learns = delay.percent != nil
        self.timer = timer
    }

    /// Returns the response to the first attempt, or to the second one if it succeeds first.
    ///
    /// A response with a status of 500 or more counts as a failure as long as the other attempt may succeed.
    ///
    /// - Throws: Errors of the wrapped fetcher.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard request.method == .get || request.method == .head, !request.isSentOnce else {
            return try await base.fetch(request)
        }
        let start = timer.now
        guard let delay = record.policy.withLock({ $0.begin() }), isAffordable(delay) else {
            let response = try await base.fetch(request)
            if Result.success(response).isServed { remember(since: start) }
            return response
        }
        let result = await HedgingRace(base, request).outcome(until: start + delay, on: timer) { second in
            guard record.policy.withLock({ $0.hedge() }) else { return false }
            observers.tell { $0.hedged(second) }
            return true
        }
        // If the second attempt won, the first took at least this long.
        if result.isServed { remember(since: start) }
        return try result.get()
    }

    private func isAffordable(_ delay: Duration) -> Bool {
        Deadline.current.map { delay < $0.remaining } ?? true
    }

    private func remember(since start: Duration) {
        guard learns else { return }
        let duration = timer.now - start
        record.policy.withLock { $0.record(duration) }
    }
}

extension DataFetcher {
    /// Returns this fetcher with a second attempt for requests that take unusually long.
    ///
    /// Apply it outside layers that limit or interrupt attempts, because both attempts must pass through them.
    ///
    ///     let fetcher = base.timingOut(after: .seconds(2)).hedging(after: .percentile(95, atFirst: .milliseconds(500)))
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

    /// Returns a delay that follows a percentile of recent durations, so that only unusually slow requests are hedged.
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
    /// The delay as part of a sentence: `2.0 seconds`, `what 95 of 100 recent attempts took at most`.
    public var description: String { percent.map { "what \($0) of 100 recent attempts took at most" } ?? "\(start)" }
}
