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
