import InwardTesting
import Testing

@testable import InwardFetching

struct RetryBudgetBalanceTests {
    private func balance(
        share: Double = 0.2,
        reserve: Int = 0,
        limit: Int = 100,
        refillInterval: Duration = .seconds(1)
    ) -> RetryBudgetBalance {
        RetryBudgetBalance(share: share, reserve: reserve, limit: limit, refillInterval: refillInterval, at: .zero)
    }

    /// Returns how many retries can be taken in sequence, up to a number.
    private func withdrawals(
        _ balance: inout RetryBudgetBalance,
        requests: Int = 0,
        at now: Duration = .zero,
        upTo most: Int = 1_000
    ) -> Int {
        var count = 0
        while count < most, balance.withdraw(requests: requests, at: now) { count += 1 }
        return count
    }

    @Test(arguments: [(0.2, 5, 1), (0.2, 4, 0), (0.1, 10, 1), (0.1, 100, 10), (1, 7, 7), (0, 1_000, 0)])
    func eachRequestAddsAShare(share: Double, requests: Int, retries: Int) {
        var atOnce = balance(share: share)
        #expect(withdrawals(&atOnce, requests: requests) == retries)
        var oneByOne = balance(share: share)
        let counts = (1...requests).map { withdrawals(&oneByOne, requests: $0) }
        #expect(counts.reduce(0, +) == retries)
    }

    @Test func reserveIsAvailableFromTheStart() {
        var balance = balance(reserve: 10)
        #expect(withdrawals(&balance) == 10)
        #expect(withdrawals(&balance, requests: 50) == 10)
        #expect(withdrawals(&balance, requests: 50) == 0)
    }

    @Test func reserveRefillsOverTime() {
        var balance = balance(reserve: 3, refillInterval: .seconds(2))
        #expect(withdrawals(&balance) == 3)
        #expect(withdrawals(&balance, at: .seconds(2) - .nanoseconds(1)) == 0)
        #expect(withdrawals(&balance, at: .seconds(3)) == 1)
        #expect(withdrawals(&balance, at: .seconds(4)) == 1)
        #expect(withdrawals(&balance, at: .seconds(5)) == 0)
        #expect(withdrawals(&balance, at: .seconds(1_000_000)) == 3)
        #expect(withdrawals(&balance, at: .seconds(1_000_001)) == 0)
    }

    @Test func fullReserveDoesNotRefill() {
        var balance = balance(reserve: 3)
        let isPaid = balance.withdraw(requests: 0, at: .seconds(100))
        #expect(isPaid)
        #expect(withdrawals(&balance, at: .seconds(100)) == 2)
        #expect(withdrawals(&balance, requests: 50, at: .seconds(100)) == 10)
    }

    @Test func earlierTimeDoesNotRefillTheReserve() {
        var balance = balance(reserve: 1)
        #expect(withdrawals(&balance, at: .seconds(10)) == 1)
        #expect(withdrawals(&balance, at: .seconds(5)) == 0)
        #expect(withdrawals(&balance, at: .seconds(10)) == 0)
        #expect(withdrawals(&balance, at: .seconds(11)) == 1)
    }

    @Test func retriesAccumulateUpToTheLimitOrTheReserve() {
        var limited = balance(limit: 20)
        #expect(withdrawals(&limited, requests: 10_000) == 20)
        var reserved = balance(reserve: 30, limit: 20)
        #expect(withdrawals(&reserved, requests: 10_000) == 30)
        #expect(withdrawals(&reserved, requests: 20_000) == 30)
    }

    @Test func requestCountMayWrapAround() {
        var balance = balance(limit: 500)
        #expect(withdrawals(&balance, requests: .max - 2) == 500)
        #expect(withdrawals(&balance, requests: .min + 2) == 1)
    }

    @Test func parametersOutOfRangeAreClamped() {
        for share in [-1, -Double.infinity, .nan] {
            var none = balance(share: share)
            #expect(withdrawals(&none, requests: 100) == 0)
        }
        for share in [2, Double.infinity] {
            var all = balance(share: share)
            #expect(withdrawals(&all, requests: 9) == 9)
        }
        var empty = balance(share: 1, reserve: -1, limit: -1, refillInterval: .seconds(-1))
        #expect(withdrawals(&empty, requests: 100, at: .seconds(100)) == 0)
        var large = balance(reserve: .max, limit: .max, refillInterval: .zero)
        #expect(withdrawals(&large, requests: .max, at: .seconds(Int64.max)) == 1_000)
        var quick = balance(reserve: 10, refillInterval: .zero)
        #expect(withdrawals(&quick) == 10)
        #expect(withdrawals(&quick, at: .milliseconds(3)) == 3)
    }

    @Test func atMostAMillionRetriesAccumulate() {
        var balance = balance(share: 1, reserve: .max, limit: .max)
        let count = withdrawals(&balance, requests: 2_000_000, at: .seconds(2_000_000), upTo: 1_100_000)
        #expect(count == 1_000_000)
    }

    @Test func withdrawalsNeverExceedShareReserveAndRefill() {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SplitMix64(seed: seed)
        var balance = balance(reserve: 5, limit: 50)
        var (requests, retries, now) = (0, 0, Duration.zero)
        for _ in 0..<10_000 {
            requests += Int.random(in: 0...4, using: &generator)
            now += .milliseconds(Int.random(in: 0...20, using: &generator))
            if balance.withdraw(requests: requests, at: now) { retries += 1 }
            #expect(Double(retries) <= 5 + 0.2 * Double(requests) + now / .seconds(1), "seed \(seed)")
        }
        #expect(retries > 3_900, "seed \(seed)")
    }
}
