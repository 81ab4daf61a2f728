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
