import InwardCore
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardFetching

@Suite(.timeLimit(.minutes(5)))
struct ResilientRetryTests {
    private let clock = ManualClock()
    private let timer: TimerService

    init() {
        timer = TimerService(clock)
    }

    private func schedule(attempts: Int = 4, budget: RetryBudget? = nil) -> RetrySchedule {
        RetrySchedule(attempts: attempts, baseDelay: .seconds(1), budget: budget, jitter: Jitter { 0.5 })
    }

    private func retrying(
        _ query: Query,
        attempts: Int = 4,
        budget: RetryBudget? = nil,
        _ advice: @escaping @Sendable (DatabaseError) -> RetryAdvice = { $0 == .notFound ? .never : .again }
    ) -> Query {
        query.retrying(schedule(attempts: attempts, budget: budget), timer: timer, advice)
    }

    @Test func failedCallsAreRetriedWithBackoffUntilTheySucceed() async throws {
        let database = Database(.failure(.busy), .failure(.busy), .success("Ada"))
        let query = retrying(database.query)
        async let row = query(7)
        for (count, delay) in [(1, Duration.seconds(0.5)), (2, .seconds(1))] {
            await clock.sleepers(1)
            #expect(database.asked.count == count)
            clock.advance(by: delay - .nanoseconds(1))
            await clock.sleepers(1)
            #expect(database.asked.count == count)
            clock.advance(by: .nanoseconds(1))
        }
        #expect(try await row == "Ada")
        #expect(database.asked == [7, 7, 7])
        #expect(timer.count == 0)
    }

    @Test func callsThatMustNotBeRepeatedAreMadeOnce() async {
        let database = Database(.failure(.notFound))
        #expect(await retrying(database.query).result(7) == .failure(.notFound))
        #expect(database.asked.count == 1)
    }

    @Test func lastErrorIsThrownAfterTheLastAttempt() async {
        let database = Database(.failure(.busy), .failure(.busy), .failure(.notFound))
        let schedule = RetrySchedule(attempts: 3, baseDelay: .zero)
        let query = database.query.retrying(schedule, timer: timer) { _ in .again }
        #expect(await query.result(7) == .failure(.notFound))
        #expect(database.asked.count == 3)
    }

    @Test func delayOfAnErrorIsAddedToTheBackoff() async throws {
        let database = Database(.failure(.busy), .success("Ada"))
        let query = retrying(database.query) { _ in .again(after: .seconds(30)) }
        async let row = query(7)
        await timer.timers(1)
        clock.advance(by: .seconds(30.5) - .nanoseconds(1))
        await clock.sleepers(1)
        #expect(database.asked.count == 1)
        clock.advance(by: .nanoseconds(1))
        #expect(try await row == "Ada")
    }

    @Test func delaysAboveTheMaximumEndTheRetries() async {
        let database = Database(.failure(.busy), .success("Ada"))
        let query = retrying(database.query) { _ in .again(after: .seconds(31)) }
        #expect(await query.result(7) == .failure(.busy))
        #expect(timer.count == 0)
    }

    @Test func delaysBeyondTheDeadlineEndTheRetries() async {
        let database = Database(.failure(.busy), .success("Ada"))
        let query = retrying(database.query)
        let result = await Deadline(in: .seconds(0.5), on: timer).bound { await query.result(7) }
        #expect(result == .success(.failure(.busy)))
        #expect(database.asked.count == 1)
    }

    @Test func operationsWithTheSameBudgetShareIt() async {
        let budget = RetryBudget(share: 0, reserve: 2, limit: 2, refillInterval: .seconds(100), timer: timer)
        let database = Database(.failure(.busy))
        let schedule = RetrySchedule(attempts: 9, baseDelay: .zero, budget: budget)
        let one = database.query.retrying(schedule, timer: timer) { _ in .again }
        let other = database.query.retrying(schedule, timer: timer) { _ in .again }
        #expect(await one.result(7) == .failure(.busy))
        #expect(await other.result(8) == .failure(.busy))
        #expect(database.asked == [7, 7, 7, 8])
    }

    @Test func eachCallAddsToTheBudget() async throws {
        let budget = RetryBudget(share: 0.5, reserve: 0, limit: 2, timer: timer)
        let database = Database(.success("Ada"), .failure(.busy))
        let schedule = RetrySchedule(attempts: 9, baseDelay: .zero, budget: budget)
        let query = database.query.retrying(schedule, timer: timer) { _ in .again }
        _ = try await query(7)
        #expect(await query.result(8) == .failure(.busy))
        #expect(database.asked == [7, 8, 8])
    }

    @Test func cancellationBetweenAttemptsIsThrown() async {
        let database = Database(.failure(.busy))
        let query = retrying(database.query)
        let call = Task { await query.result(7) }
        await timer.timers(1)
        call.cancel()
        let error = await call.value.failure?.resilience
        #expect(error?.reason == .cancelled)
        #expect(error?.wasStarted == true)
        #expect(database.asked.count == 1)
        #expect(timer.count == 0)
    }

    /// The argument says which attempts were started. The call is cancelled while it waits for the next attempt.
    @Test(arguments: [[false], [false, false], [true, false], [false, true], [true, true]])
    func anyStartedAttemptMeansThatTheOperationWasStarted(attempts: [Bool]) async {
        let number = Counter()
        let query = Database().query.wrapped { _, _ throws(AttemptFailure<DatabaseError>) in
            guard !attempts[min(number.add(), attempts.count) - 1] else { throw .operation(.busy) }
            throw .resilience(ResilienceError(.timedOut, operation: "it", explanation: "was late", wasStarted: false))
        }
        let schedule = schedule(attempts: 9)
        let call = Task { [timer] in await query.retrying(schedule, timer: timer) { _ in .again }.result(7) }
        for _ in attempts {
            await clock.sleepers(1)
            if number.value == attempts.count { call.cancel() } else { clock.advance(by: .seconds(60)) }
        }
        #expect(await call.value.failure?.resilience?.wasStarted == attempts.contains(true))
    }

    @Test(arguments: [RetryAdvice.again, .never])
    func adviceDecidesWhetherTimeoutsAreRetried(advice: RetryAdvice) async throws {
        let asked = Mutex<[DatabaseError]>([])
        let database = Database(.success("Ada"))
        let schedule = RetrySchedule(attempts: 2, baseDelay: .zero)
        let query = database.query.timingOut(after: .zero, timer: timer).retrying(schedule, timer: timer) { error in
            asked.withLock { $0.append(error) }
            return advice
        }
        let error = try #require(await query.result(7).failure)
        #expect(error.resilience?.reason == .timedOut)
        #expect(asked.withLock(\.self) == Array(repeating: error, count: advice == .again ? 2 : 1))
    }

    @Test func rejectionsAreNeverRetried() async {
        let limiter = RateLimiter(1, per: .seconds(1), waitingAtMost: .zero, timer: timer)
        let database = Database(.success("Ada"))
        let asked = Counter()
        let query = database.query.limitingRate(to: limiter).retrying(schedule(), timer: timer) { _ in
            asked.add()
            return .again
        }
        #expect(await query.result(7) == .success("Ada"))
        #expect(await query.result(7).failure?.resilience?.reason == .rejected)
        #expect(asked.value == 0)
    }
}
