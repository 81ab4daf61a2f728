public import InwardCore
import Synchronization

/// A data fetcher that asks a second time what takes long, and takes the answer that comes first.
///
/// Only what is safe to be done twice is asked twice: `GET` and `HEAD`. The attempt that is not needed is cancelled and waited
/// for.
public struct HedgingDataFetcher: ReportingDataFetcher {
    /// One policy for all copies of the fetcher, which are made when it is observed.
    private final class Record: Sendable {
        let policy: Mutex<HedgingPolicy>

        init(_ policy: HedgingPolicy) {
            self.policy = Mutex(policy)
        }
    }

    /// What is wrapped.
    public var base: any DataFetcher
    /// When, as the pipeline shows it.
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

    /// The wrapped fetcher's answer to the first attempt, or to the second one if that is the first to succeed.
    ///
    /// An answer with a status of 500 or more is a failure where the other attempt may succeed.
    ///
    /// - Throws: what the wrapped fetcher throws.
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
        // If the second attempt came first, the other one took at least as long.
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
    /// This fetcher with a second attempt beside the first where that takes unusually long.
    ///
    /// Put it around what bounds or breaks attempts, because each of the two is one.
    ///
    /// - Parameters:
    ///   - delay: How long the first attempt may take.
    ///   - share: For which part of the requests there is a second attempt at most, from 0 to 1.
    ///   - timer: What tells the time.
    /// - Returns: the fetcher to hand requests to.
    public func hedging(
        after delay: HedgingDelay,
        upTo share: Double = 0.05,
        timer: TimerService = .continuous
    ) -> HedgingDataFetcher {
        HedgingDataFetcher(self, delay: delay, share: share, timer: timer)
    }
}

/// How long a first attempt may take before a second one is made beside it.
public struct HedgingDelay: Hashable, Sendable {
    /// How long while nothing else is known.
    let start: Duration
    /// How many of a hundred recent attempts are to take no longer; `nil` if it is always as at the start.
    let percent: Int?
    /// How many are recent.
    let capacity: Int

    /// Always so long.
    ///
    /// - Parameter delay: How long; what is below zero counts as zero.
    /// - Returns: the delay.
    public static func fixed(_ delay: Duration) -> Self {
        Self(start: max(.zero, delay), percent: nil, capacity: 1)
    }

    /// As long as most of the recent attempts took, so that a second one is made only where the first is unusually slow.
    ///
    /// - Parameters:
    ///   - percent: How many of a hundred are to take no longer, from 1 to 99.
    ///   - start: How long until half as many attempts were seen as are recent; what is below zero counts as zero.
    ///   - capacity: How many are recent, from 10 to 10,000.
    /// - Returns: the delay.
    public static func percentile(_ percent: Int, atFirst start: Duration, ofLast capacity: Int = 200) -> Self {
        Self(
            start: max(.zero, start),
            percent: min(max(percent, 1), 99),
            capacity: min(max(capacity, 10), 10_000)
        )
    }
}

extension HedgingDelay: CustomStringConvertible {
    /// How long, as a part of a sentence: `2.0 seconds`, `what 95 of 100 recent attempts took at most`.
    public var description: String { percent.map { "what \($0) of 100 recent attempts took at most" } ?? "\(start)" }
}
