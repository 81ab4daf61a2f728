public import InwardCore
import Synchronization

/// How many retries the requests to one upstream may cause together, so that retries do not keep down what is down.
///
/// Each request adds a share of a retry. Besides there is a small reserve, which comes back with time, so that a client with few
/// requests may retry too. Make one for each upstream, and hand it to every policy by which that upstream is asked again.
public final class RetryBudget: Sendable {
    // Counted apart from the balance: what every request pays is one addition.
    private let requests = Atomic(0)
    private let balance: Mutex<RetryBudgetBalance>
    private let timer: TimerService

    /// Makes a budget with its reserve in full.
    ///
    /// - Parameters:
    ///   - share: The part of the requests that may be retried, from 0 to 1. Another number counts as the nearest.
    ///   - reserve: How many retries there are at first, and come back with time; from 0 to a million.
    ///   - limit: The most retries that add up while nothing fails, at least the reserve and at most a million. It is what
    ///     makes the share one of recent requests.
    ///   - refillInterval: How long it takes until one retry of the reserve is back; at least a millisecond.
    ///   - timer: What tells the time. It is asked for a retry alone.
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

    /// Takes one retry; `false` if none is left.
    func withdraw() -> Bool {
        let now = timer.now
        // The count is read under the lock, so that it never goes back from one withdrawal to the next.
        return balance.withLock { $0.withdraw(requests: requests.load(ordering: .relaxed), at: now) }
    }
}

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
