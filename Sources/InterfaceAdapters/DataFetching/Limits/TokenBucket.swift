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
    var next: Duration { full - tolerance }

    /// Takes the next token, if there is one by a moment. It is not used before its turn.
    mutating func reserve(at now: Duration, by latest: Duration) -> Turn? {
        let moment = max(now, next)
        guard moment <= latest else { return nil }
        full = max(full, now) + interval
        return Turn(moment: moment, full: full)
    }

    /// Puts a token back that was not used, if none was taken behind it. Otherwise it is lost: those behind it have their turns
    /// by then, and a new one could come too soon for them.
    mutating func putBack(_ turn: Turn) {
        if full == turn.full { full -= interval }
    }
}
