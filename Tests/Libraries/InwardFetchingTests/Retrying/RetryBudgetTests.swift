import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardFetching

@Suite(.timeLimit(.minutes(5)))
struct RetryBudgetTests {
    private let clock = ManualClock()
    private let timer: TimerService
    private let source = RecordingDataFetcher(StubDataFetcher(DataResponse(status: 503)))

    init() {
        timer = TimerService(clock)
    }

    private func fetcher(_ budget: RetryBudget?) -> RetryingDataFetcher {
        source.retrying(RetryPolicy(baseDelay: .zero, budget: budget), timer: timer)
    }

    @Test func retriesStayWithinTheShareAndTheReserve() async throws {
        let fetcher = fetcher(RetryBudget(share: 0.2, reserve: 10, timer: timer))
        var last: DataResponse?
        for _ in 0..<200 { last = try await fetcher.fetch(.example()) }
        #expect(source.requests.count == 200 + 10 + 40)
        #expect(last?.retries?.ending == "the retry budget is used up")
    }

    @Test func policiesWithTheSameBudgetShareIt() async throws {
        let budget = RetryBudget(share: 0.1, reserve: 5, timer: timer)
        await withTaskGroup { group in
            for _ in 0..<20 {
                group.addTask { [fetcher = fetcher(budget)] in
                    for _ in 0..<50 { _ = try? await fetcher.fetch(.example()) }
                }
            }
        }
        // 1,000 requests, and no time for the reserve to refill.
        #expect(source.requests.count <= 1_000 + 5 + 100)
        #expect(source.requests.count > 1_000)
    }

    @Test func eachStandardPolicyHasItsOwnBudget() throws {
        let first = try #require(RetryPolicy.standard.budget)
        let second = try #require(RetryPolicy.standard.budget)
        while first.withdraw() {}
        #expect(second.withdraw())
    }

    @Test func policiesWithDifferentBudgetsDoNotShareThem() async throws {
        for _ in 0..<2 { _ = try await fetcher(RetryBudget(share: 0, reserve: 2, timer: timer)).fetch(.example()) }
        #expect(source.requests.count == 6)
    }

    @Test func onlyTheAttemptsAreLimitedWithoutABudget() async throws {
        for _ in 0..<200 { _ = try await fetcher(nil).fetch(.example()) }
        #expect(source.requests.count == 600)
    }

    @Test func successfulRequestsPayForRetries() async throws {
        let budget = RetryBudget(share: 0.5, reserve: 0, timer: timer)
        let working = StubDataFetcher(DataResponse()).retrying(RetryPolicy(budget: budget), timer: timer)
        for _ in 0..<7 { _ = try await working.fetch(.example()) }
        for _ in 0..<3 { _ = try await fetcher(budget).fetch(.example()) }
        // Ten requests in all. Half of them may be retried.
        #expect(source.requests.count == 3 + 5)
    }

    @Test func budgetGrowsOnlyWithRequests() {
        let budget = RetryBudget(share: 1, reserve: 0, timer: timer)
        #expect(!budget.withdraw())
        budget.deposit()
        #expect([budget.withdraw(), budget.withdraw()] == [true, false])
    }

    @Test func reserveRefillsAsTheClockAdvances() {
        let budget = RetryBudget(share: 0, reserve: 2, refillInterval: .seconds(5), timer: timer)
        #expect([budget.withdraw(), budget.withdraw(), budget.withdraw()] == [true, true, false])
        clock.advance(by: .seconds(5))
        #expect([budget.withdraw(), budget.withdraw()] == [true, false])
    }
}
