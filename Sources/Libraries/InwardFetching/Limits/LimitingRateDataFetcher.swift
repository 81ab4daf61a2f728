public import InwardCore
import Synchronization

/// A data fetcher that limits the rate of requests. Requests beyond the limit wait or are rejected.
///
/// ```swift
/// let maps = client.limitingRate(to: 10, per: .seconds(1))
/// do {
///     print(try await maps.fetch(request).status)
/// } catch where error.reason == .rejected {
///     if case .delay(let delay) = error.retryAfter { print("Try again in \(delay).") }
/// }
/// ```
public struct LimitingRateDataFetcher: ReportingDataFetcher {
    /// The wrapped fetcher.
    public var base: any DataFetcher
    private let limiter: RateLimiter
    var observers = FetchObservers()

    init(_ base: any DataFetcher, limiter: RateLimiter) {
        self.base = base
        self.limiter = limiter
    }

    /// The description of this layer, with the rate.
    public var layer: DataFetcherLayer { DataFetcherLayer(.rateLimit, "sends at most \(limiter.description)") }

    /// Waits for a slot, sends the request, and returns the response.
    ///
    /// - Throws: A ``FetchError`` if the request was not sent: with ``FetchError/Reason/rejected`` and the earliest time for a
    ///   retry if it would have to wait too long or beyond its deadline, with ``FetchError/Reason/timedOut`` if the deadline
    ///   has already passed, or with ``FetchError/Reason/cancelled`` if the task is cancelled while it waits; otherwise, errors
    ///   of the wrapped fetcher.
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

extension RateLimiter {
    /// Waits until a request may be sent, as `wait()` does.
    ///
    /// - Returns: The slot.
    /// - Throws: A ``FetchError`` if the request would wait too long, is too late, or was cancelled.
    func wait(_ request: DataRequest) async throws(FetchError) -> TokenBucket.Turn {
        do {
            return try await wait()
        } catch {
            throw FetchError(error, of: request)
        }
    }
}

extension DataFetcher {
    /// Returns this fetcher with a rate limiter of its own.
    ///
    /// ```swift
    /// let maps = client.limitingRate(to: 10, per: .seconds(1), burst: 5)
    /// ```
    ///
    /// - Parameters:
    ///   - count: The number of requests per period, from 1 to 1,000,000,000.
    ///   - period: The period, from a nanosecond to 1,000,000,000 seconds.
    ///   - burst: The number of requests that may be sent at once after an idle time, from 1 to 1,000,000,000.
    ///   - patience: The maximum wait. With zero or less, requests that come too early are rejected.
    ///   - timer: The source of time.
    /// - Returns: The limited fetcher.
    public func limitingRate(
        to count: Int,
        per period: Duration,
        burst: Int = 1,
        waitingAtMost patience: Duration = .seconds(1),
        timer: TimerService = .continuous
    ) -> LimitingRateDataFetcher {
        limitingRate(to: RateLimiter(count, per: period, burst: burst, waitingAtMost: patience, timer: timer))
    }

    /// Returns this fetcher with a rate limiter, which other pipelines may share.
    ///
    /// Apply it inside retries, because every attempt counts.
    ///
    /// ```swift
    /// let quota = RateLimiter(100, per: .seconds(60), burst: 10)
    /// let maps = client.limitingRate(to: quota).retrying(.standard)
    /// ```
    ///
    /// - Parameter limiter: The limiter.
    /// - Returns: The limited fetcher.
    public func limitingRate(to limiter: RateLimiter) -> LimitingRateDataFetcher {
        LimitingRateDataFetcher(self, limiter: limiter)
    }
}

/// A limiter for the rate of requests in all pipelines that share it.
///
/// It permits a burst at once, and then spreads requests evenly over the period. In any span of time, it permits at most the
/// burst plus the number of requests that the rate allows in that span. A request that comes too early reserves the next free
/// slot and waits for it. If the wait would be too long, the request is rejected at once, with the earliest time for a retry.
///
/// ```swift
/// let limiter = RateLimiter(10, per: .seconds(1), burst: 5)
/// let api = client.limitingRate(to: limiter)
/// ```
public final class RateLimiter: Sendable {
    let timer: TimerService
    let description: String
    private let bucket: Mutex<TokenBucket>
    private let patience: Duration
    private let refusal: String

    /// Creates a limiter.
    ///
    /// - Parameters:
    ///   - count: The number of requests per period, from 1 to 1,000,000,000.
    ///   - period: The period, from a nanosecond to 1,000,000,000 seconds.
    ///   - burst: The number of requests that may be sent at once after an idle time, from 1 to 1,000,000,000.
    ///   - patience: The maximum wait. With zero or less, requests that come too early are rejected.
    ///   - timer: The source of time.
    public init(
        _ count: Int,
        per period: Duration,
        burst: Int = 1,
        waitingAtMost patience: Duration = .seconds(1),
        timer: TimerService = .continuous
    ) {
        let bucket = TokenBucket(count, per: period, burst: burst)
        self.bucket = Mutex(bucket)
        self.patience = min(max(.zero, patience), .seconds(TokenBucket.most))
        self.timer = timer
        description = "\(max(1, count)) in \(period)"
        refusal = "was not sent: the rate limit is \(description)"
    }

    /// Counts the requests that another limiter has admitted, when this limiter replaces it.
    func takeOver(from other: RateLimiter) {
        let now = timer.now
        let old = other.bucket.withLock(\.self)
        bucket.withLock { $0.takeOver(from: old, at: now) }
    }

    /// Admits a request if it may be sent now.
    ///
    /// - Returns: The slot; `nil` if the request has to wait for one.
    func admit() -> TokenBucket.Turn? {
        let now = timer.now
        return bucket.withLock { $0.reserve(at: now, by: now) }
    }

    /// Takes back the slot of a request that was not sent, so that it does not count.
    func putBack(_ turn: TokenBucket.Turn) {
        bucket.withLock { $0.putBack(turn) }
    }

    /// Waits until a request may be sent.
    ///
    /// - Returns: The slot.
    /// - Throws: A ``LimitRejection`` if the request would have to wait too long, is too late, or was cancelled.
    func wait() async throws(LimitRejection) -> TokenBucket.Turn {
        guard !Task.isCancelled else { throw .cancelledBeforeTurn }
        let deadline = Deadline.current
        if let deadline, deadline.hasPassed { throw .lateForTurn }
        let now = timer.now
        let latest = now + min(patience, deadline?.remaining ?? patience)
        let (turn, next) = bucket.withLock { bucket in (bucket.reserve(at: now, by: latest), bucket.next(at: now)) }
        guard let turn else { throw LimitRejection(.limit, refusal, retryAfter: max(.zero, next - now)) }
        do {
            try await timer.sleep(until: turn.moment)
        } catch {
            putBack(turn)
            throw .cancelledBeforeTurn
        }
        return turn
    }
}

extension LimitRejection {
    fileprivate static let lateForTurn = Self(.deadline, "was not sent: its deadline has passed")
    fileprivate static let cancelledBeforeTurn = Self(.cancellation, "was cancelled while it waited for the rate limit")
}

/// The token bucket of a ``RateLimiter``: a value without a clock.
///
/// It implements the generic cell rate algorithm (ITU-T I.371), which represents the bucket by the time at which it will be
/// full.
struct TokenBucket: Sendable {
    /// A reserved slot, now or in the future.
    struct Turn: Hashable, Sendable {
        /// The time of the slot.
        let moment: Duration
        fileprivate let full: Duration
    }

    /// The maximum number of tokens and of seconds, so that every time is representable.
    static let most = 1_000_000_000

    /// The interval between tokens.
    let interval: Duration
    /// The capacity.
    private let burst: Int
    /// The time in which the bucket fills up from one token.
    private let tolerance: Duration
    /// The time at which the bucket is full if no more tokens are taken. It is in the past if the bucket is already full.
    private var full = Duration.zero
    /// Slots that were returned before their time, earliest first. Each of them precedes a slot that is still reserved.
    private var free: [Turn] = []

    /// Creates a full bucket.
    ///
    /// - Parameters:
    ///   - count: The number of tokens per period.
    ///   - period: The period.
    ///   - burst: The capacity of the bucket.
    init(_ count: Int, per period: Duration, burst: Int) {
        let count = min(max(1, count), Self.most)
        let period = min(max(.nanoseconds(1), period), .seconds(Self.most))
        let quotient = period / count
        // Rounded up, because rounding down would exceed the rate.
        interval = quotient * count < period ? quotient + Duration(attoseconds: 1) : quotient
        self.burst = min(max(1, burst), Self.most)
        tolerance = interval * (self.burst - 1)
    }

    /// Counts the tokens that another bucket has issued as if this one had issued them: all that are reserved for the future,
    /// and past ones up to this bucket's capacity. Both must issue at most 1,000,000,000 tokens a second.
    mutating func takeOver(from old: TokenBucket, at now: Duration) {
        let given = Int((max(.zero, old.full - now) / old.interval).rounded(.up))
        let reserved = max(0, given - old.burst)
        full = now + interval * (min(given - reserved, burst) + reserved)
    }

    /// Returns the time of the next token that is not reserved. It may be in the past.
    func next(at now: Duration) -> Duration {
        free.first { $0.moment >= now }?.moment ?? full - tolerance
    }

    /// Reserves the next token if its slot comes by a point in time. The token must not be used before its slot.
    mutating func reserve(at now: Duration, by latest: Duration) -> Turn? {
        free.removeFirst(free.prefix { $0.moment < now }.count)
        let moment = max(now, next(at: now))
        guard moment <= latest else { return nil }
        guard free.isEmpty else { return free.removeFirst() }
        full = max(full, now) + interval
        return Turn(moment: moment, full: full)
    }

    /// Takes back an unused token.
    ///
    /// The slots after it do not move. Another request can take the returned slot, but only until its time: later, it could
    /// come too close to the next slot.
    mutating func putBack(_ turn: Turn) {
        free.insert(turn, at: free.firstIndex { $0.full > turn.full } ?? free.endIndex)
        while let last = free.last, last.full == full {
            free.removeLast()
            full -= interval
        }
    }
}
