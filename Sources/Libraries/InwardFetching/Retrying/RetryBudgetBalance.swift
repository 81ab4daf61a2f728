/// How many retries may be made: a value without a clock, for a ``RetryBudget``.
///
/// It is counted in millionths of a retry, so that shares add up to what they should.
struct RetryBudgetBalance {
    private static let retry = 1_000_000

    private let share: Int
    private let reserve: Int
    private let limit: Int
    private let refillInterval: Duration
    private var balance: Int
    private var counted = 0
    private var refilled: Duration

    /// Makes a balance with its reserve in full.
    ///
    /// - Parameters:
    ///   - share: What each request adds, from 0 to 1 retries; another number counts as the nearest.
    ///   - reserve: How many retries there are at first and come back with time, from 0 to a million.
    ///   - limit: The most retries that add up, at least the reserve and at most a million.
    ///   - refillInterval: How long it takes until one retry of the reserve is back, at least a millisecond.
    ///   - now: The time.
    init(share: Double, reserve: Int, limit: Int, refillInterval: Duration, at now: Duration) {
        let reserve = min(max(0, reserve), 1_000_000) * Self.retry
        self.share = share > 0 ? Int(min(share, 1) * Double(Self.retry)) : 0
        self.reserve = reserve
        self.limit = max(reserve, min(max(0, limit), 1_000_000) * Self.retry)
        self.refillInterval = max(.milliseconds(1), refillInterval)
        balance = reserve
        refilled = now
    }

    /// Takes one retry.
    ///
    /// - Parameters:
    ///   - requests: How many requests there were in all, by a count that may wrap around.
    ///   - now: The time. One that lies before an earlier one counts as that.
    /// - Returns: whether one was left.
    /// - Complexity: O(1).
    mutating func withdraw(requests: Int, at now: Duration) -> Bool {
        let (credit, isTooMuch) = (requests &- counted).multipliedReportingOverflow(by: share)
        counted = requests
        balance = isTooMuch ? limit : min(limit, balance + min(limit, credit))
        refill(at: max(now, refilled))
        guard balance >= Self.retry else { return false }
        balance -= Self.retry
        return true
    }

    private mutating func refill(at now: Duration) {
        guard balance < reserve else { return refilled = now }
        let count = Int(min((now - refilled) / refillInterval, Double(reserve / Self.retry)))
        balance = min(reserve, balance + count * Self.retry)
        refilled = balance < reserve ? refilled + refillInterval * count : now
    }
}
