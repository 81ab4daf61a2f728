public import InwardCore
import Synchronization

/// A budget for retries to one upstream, which keeps retries from overloading an upstream that is already failing.
///
/// Each request adds a fraction of a retry. A small reserve, which refills over time, allows retries even if there are few
/// requests. Create one budget for each upstream, and pass it to every retry policy for that upstream:
///
/// ```swift
/// let budget = RetryBudget()
/// let users = client.retrying(RetryPolicy(budget: budget))
/// let orders = client.retrying(RetryPolicy(attempts: 5, budget: budget))
/// ```
public final class RetryBudget: Sendable {
    // Separate from the balance, so that a request costs only one atomic addition.
    private let requests = Atomic(0)
    private let balance: Mutex<RetryBudgetBalance>
    private let timer: TimerService

    /// Creates a budget with a full reserve.
    ///
    /// - Parameters:
    ///   - share: The fraction of requests that may be retried, clamped to the range from 0 to 1.
    ///   - reserve: The number of retries available at first, which refills over time; from 0 to a million.
    ///   - limit: The maximum number of retries that accumulate while nothing fails, so that very old requests do not count;
    ///     at least the reserve, and at most a million.
    ///   - refillInterval: The time in which one retry of the reserve is restored; at least a millisecond.
    ///   - timer: The source of time. It is read only when the budget is created and before each retry.
    public init(
        share: Double = 0.2,
        reserve: Int = 10,
        limit: Int = 100,
        refillInterval: Duration = .seconds(1),
        timer: TimerService = .continuous
    ) {
        self.timer = timer
        balance = Mutex(
            RetryBudgetBalance(
                share: share,
                reserve: reserve,
                limit: limit,
                refillInterval: refillInterval,
                at: timer.now
            )
        )
    }

    /// Counts a request.
    func deposit() { requests.add(1, ordering: .relaxed) }

    /// Takes one retry; returns `false` if none is left.
    func withdraw() -> Bool {
        let now = timer.now
        // The count is read under the lock, so that it never decreases from one withdrawal to the next.
        return balance.withLock { $0.withdraw(requests: requests.load(ordering: .relaxed), at: now) }
    }
}

/// The balance of a ``RetryBudget``, whose reserve refills over time: a value without a clock.
struct RetryBudgetBalance {
    private let reserve: Int
    private let refillInterval: Duration
    private var retries: TokenBalance
    private var counted = 0
    private var refilled: Duration

    /// Creates a balance with a full reserve.
    ///
    /// - Parameters:
    ///   - share: The fraction of a retry that each request adds, clamped to the range from 0 to 1.
    ///   - reserve: The number of retries available at first, which refills over time; from 0 to a million.
    ///   - limit: The maximum number of retries that accumulate, at least the reserve and at most a million.
    ///   - refillInterval: The time in which one retry of the reserve is restored, at least a millisecond.
    ///   - now: The current time.
    init(share: Double, reserve: Int, limit: Int, refillInterval: Duration, at now: Duration) {
        let reserve = min(max(0, reserve), 1_000_000)
        self.reserve = reserve
        self.refillInterval = max(.milliseconds(1), refillInterval)
        retries = TokenBalance(share: share, limit: min(max(reserve, limit), 1_000_000), count: reserve)
        refilled = now
    }

    /// Takes one retry.
    ///
    /// - Parameters:
    ///   - requests: The total number of requests, which may wrap around.
    ///   - now: The current time. A time before an earlier one counts as the earlier one.
    /// - Returns: Whether a retry was left.
    /// - Complexity: O(1).
    mutating func withdraw(requests: Int, at now: Duration) -> Bool {
        retries.deposit(requests: requests &- counted)
        counted = requests
        refill(at: max(now, refilled))
        return retries.withdraw()
    }

    private mutating func refill(at now: Duration) {
        guard retries.isBelow(reserve) else { return refilled = now }
        let count = Int(min((now - refilled) / refillInterval, Double(reserve)))
        retries.add(count, upTo: reserve)
        refilled = retries.isBelow(reserve) ? refilled + refillInterval * count : now
    }
}

/// A balance of tokens: each request adds a share of a token, and each additional attempt costs one. It is a value without a
/// clock.
///
/// It counts millionths of a token, which avoids rounding errors.
struct TokenBalance: Sendable {
    private static let token = 1_000_000

    private let share: Int
    private let limit: Int
    private var millionths: Int

    /// Creates a balance.
    ///
    /// - Parameters:
    ///   - share: The share of a token that each request adds, clamped to the range from 0 to 1.
    ///   - limit: The maximum number of tokens, from 0 to a million.
    ///   - count: The number of tokens at first, at most the limit.
    init(share: Double, limit: Int, count: Int = 0) {
        self.share = share > 0 ? Int(min(share, 1) * Double(Self.token)) : 0
        self.limit = limit * Self.token
        millionths = count * Self.token
    }

    /// Returns whether there are fewer tokens than a number.
    func isBelow(_ count: Int) -> Bool { millionths < count * Self.token }

    /// Adds the shares of a number of requests, up to the limit.
    mutating func deposit(requests: Int = 1) {
        let (credit, isTooMuch) = requests.multipliedReportingOverflow(by: share)
        millionths = isTooMuch ? limit : min(limit, millionths + min(limit, credit))
    }

    /// Adds a number of tokens to a balance below a bound, up to that bound.
    mutating func add(_ count: Int, upTo bound: Int) {
        millionths = min(bound * Self.token, millionths + count * Self.token)
    }

    /// Takes a token, and returns whether there was one.
    mutating func withdraw() -> Bool {
        guard millionths >= Self.token else { return false }
        millionths -= Self.token
        return true
    }
}
