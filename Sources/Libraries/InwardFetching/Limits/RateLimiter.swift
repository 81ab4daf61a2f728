public import InwardCore
import Synchronization

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
