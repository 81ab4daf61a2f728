public import InwardCore
import Synchronization

/// A data fetcher that sends no more requests in a time than a limiter allows, and has the others wait or refuses them.
public struct LimitingRateDataFetcher: ReportingDataFetcher {
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

/// Bounds how many requests are sent in a time, in all the pipelines that it is handed to.
///
/// It lets a burst go at once, and one more whenever its part of the period has passed: in no stretch of time more than the
/// burst and what the rate gives for it. Who comes too soon has to wait for a turn, and turns are given in the order in which
/// requests come. Who would have to wait too long is refused at once, and told when it can help to ask again.
public final class RateLimiter: Sendable {
    let timer: TimerService
    let description: String
    private let bucket: Mutex<TokenBucket>
    private let patience: Duration
    private let refusal: String

    /// Makes a limiter that nobody went through yet.
    ///
    /// - Parameters:
    ///   - count: How many requests may be sent in a period, from 1 to 1,000,000,000.
    ///   - period: How long that is, from a nanosecond to 1,000,000,000 seconds.
    ///   - burst: How many may be sent at once when none was for a while, from 1 to 1,000,000,000.
    ///   - patience: How long one may wait for its turn; with zero or less, who comes too soon is refused.
    ///   - timer: What tells the time.
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
        refusal = "was not sent: \(description) are the most allowed"
    }

    /// Lets a request go if it may now.
    ///
    /// - Returns: its turn; `nil` if it has to wait for one.
    func admit() -> TokenBucket.Turn? {
        let now = timer.now
        return bucket.withLock { $0.reserve(at: now, by: now) }
    }

    /// Takes back the turn of a request that was not sent, so that it does not count.
    func putBack(_ turn: TokenBucket.Turn) {
        bucket.withLock { $0.putBack(turn) }
    }

    /// Waits until a request may go.
    ///
    /// - Returns: its turn.
    /// - Throws: a ``FetchError`` if it may not: it would have to wait too long, or was cancelled.
    func wait(_ request: DataRequest) async throws(FetchError) -> TokenBucket.Turn {
        guard !Task.isCancelled else { throw cancelled(request) }
        let deadline = Deadline.current
        if let deadline, deadline.hasPassed { throw late(request) }
        let now = timer.now
        let latest = now + min(patience, deadline?.remaining ?? patience)
        let (turn, next) = bucket.withLock { bucket in (bucket.reserve(at: now, by: latest), bucket.next(at: now)) }
        guard let turn else {
            throw FetchError(
                .rejected,
                request: request,
                explanation: refusal,
                retryAfter: .delay(max(.zero, next - now))
            )
        }
        do {
            try await timer.sleep(until: turn.moment)
        } catch {
            putBack(turn)
            throw cancelled(request)
        }
        return turn
    }

    private func late(_ request: DataRequest) -> FetchError {
        FetchError(
            .timedOut,
            request: request,
            explanation: "was not sent: its deadline has passed",
            wasSent: false
        )
    }

    private func cancelled(_ request: DataRequest) -> FetchError {
        FetchError(
            .cancelled,
            request: request,
            explanation: "was cancelled before it was its turn to be sent",
            wasSent: false
        )
    }
}

/// Decides when something may be sent so that no more than a rate allows is: a value without a clock, for a ``RateLimiter``.
///
/// Of a bucket that holds as many tokens as may be sent at once, and gets a new one now and then, it is enough to know the
/// moment from which on it is full: the generic cell rate algorithm (ITU-T I.371).
struct TokenBucket: Sendable {
    /// A turn, now or in the future.
    struct Turn: Hashable, Sendable {
        /// When it is.
        let moment: Duration
        fileprivate let full: Duration
    }

    /// The greatest number of tokens, and of seconds, so that no moment is too late to be told.
    static let most = 1_000_000_000

    /// How often a token comes.
    let interval: Duration
    /// How long it takes to fill all of the bucket but one token.
    private let tolerance: Duration
    /// When the bucket is full, if nothing more is taken; a moment in the past if it is.
    private var full = Duration.zero
    /// Turns that were put back before they came, the earliest first. Others have turns behind each of them.
    private var free: [Turn] = []

    /// Makes a full bucket.
    ///
    /// - Parameters:
    ///   - count: How many tokens come in a period.
    ///   - period: How long that is.
    ///   - burst: How many it holds.
    init(_ count: Int, per period: Duration, burst: Int) {
        let count = min(max(1, count), Self.most)
        let period = min(max(.nanoseconds(1), period), .seconds(Self.most))
        let quotient = period / count
        // Rounded up, because more often is too often.
        interval = quotient * count < period ? quotient + Duration(attoseconds: 1) : quotient
        tolerance = interval * (min(max(1, burst), Self.most) - 1)
    }

    /// When there will be a token that nobody has taken, if there is none now.
    func next(at now: Duration) -> Duration {
        free.first { $0.moment >= now }?.moment ?? full - tolerance
    }

    /// Takes the next token, if there is one by a moment. It is not used before its turn.
    mutating func reserve(at now: Duration, by latest: Duration) -> Turn? {
        free.removeFirst(free.prefix { $0.moment < now }.count)
        let moment = max(now, next(at: now))
        guard moment <= latest else { return nil }
        guard free.isEmpty else { return free.removeFirst() }
        full = max(full, now) + interval
        return Turn(moment: moment, full: full)
    }

    /// Puts a token back that was not used.
    ///
    /// Others may have later turns by now, which stay as they are. Then somebody else can have this one, until its moment has
    /// passed: used later, it could come too soon before the next.
    mutating func putBack(_ turn: Turn) {
        free.insert(turn, at: free.firstIndex { $0.full > turn.full } ?? free.endIndex)
        while let last = free.last, last.full == full {
            free.removeLast()
            full -= interval
        }
    }
}
