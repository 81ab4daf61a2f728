import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ResilientTimeoutTests {
    private let clock = ManualClock()
    private let timer: TimerService
    private let answer = Promise<String>()

    init() {
        timer = TimerService(clock)
    }

    /// A query that ignores the deadline, and ends when it is answered or cancelled.
    private var query: Query {
        Query { [answer] _ throws(DatabaseError) in
            guard case .fulfilled(let row) = await answer.value(until: nil) else { throw .busy }
            return row
        }
    }

    @Test func resultsInTimeAreReturned() async throws {
        let query = query.timingOut(after: .seconds(2), timer: timer)
        async let row = query(7)
        await timer.timers(1)
        clock.advance(by: .seconds(2) - .nanoseconds(1))
        answer.fulfill("Ada")
        #expect(try await row == "Ada")
        #expect(timer.count == 0)
    }

    @Test func lateOperationsAreCancelledAndTimeOut() async {
        let query = query.timingOut(after: .seconds(2), timer: timer)
        async let result = query.result(7)
        await timer.timers(1)
        clock.advance(by: .seconds(2))
        let error = await result.failure?.resilience
        #expect(error?.reason == .timedOut)
        #expect(error?.explanation == "did not end within 2.0 seconds")
        #expect(error?.wasStarted == true)
        #expect(!answer.fulfill("Ada"))
    }

    @Test func shorterLimitIsTheDeadlineOfTheOperation() async throws {
        let remaining = ResilientOperation<Int, Duration?, DatabaseError> { _ in Deadline.current?.remaining }
        let query = remaining.timingOut(after: .seconds(2), timer: timer).timingOut(after: .seconds(5), timer: timer)
        #expect(try await query(7) == .seconds(2))
        let strict = remaining.timingOut(after: .seconds(5), timer: timer).timingOut(after: .seconds(3), timer: timer)
        #expect(try await strict(7) == .seconds(3))
    }

    @Test func cancelledCallerGetsTheErrorOfTheOperation() async {
        let query = query.timingOut(after: .seconds(2), timer: timer)
        let call = Task { await query.result(7) }
        await timer.timers(1)
        call.cancel()
        #expect(await call.value == .failure(.busy))
        #expect(timer.count == 0)
    }
}
