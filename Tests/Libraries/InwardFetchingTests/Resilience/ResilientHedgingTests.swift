import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ResilientHedgingTests {
    private let clock = ManualClock()
    private let timer: TimerService
    private let attempts = Counter()
    private let first = Promise<Result<String, DatabaseError>>()

    init() {
        timer = TimerService(clock)
    }

    /// Returns a query whose first attempt waits for its result, and whose second attempt succeeds immediately.
    private func query(second: Result<String, DatabaseError>) -> Query {
        Query { [attempts, first] _ throws(DatabaseError) in
            guard attempts.add() == 1 else { return try second.get() }
            guard case .fulfilled(let result) = await first.value(until: nil) else { throw .busy }
            return try result.get()
        }.hedging(after: .fixed(.seconds(1)), upTo: 1, timer: timer)
    }

    @Test func slowCallsAreHedgedAndTheLoserIsCancelled() async {
        let query = query(second: .success("Ada"))
        async let result = query.result(7)
        await timer.timers(1)
        clock.advance(by: .seconds(1))
        #expect(await result == .success("Ada"))
        #expect(attempts.value == 2)
        #expect(!first.fulfill(.success("late")))
        #expect(timer.count == 0)
    }

    @Test func fastCallsAreMadeOnce() async {
        let query = query(second: .success("Ada"))
        async let result = query.result(7)
        await timer.timers(1)
        first.fulfill(.failure(.notFound))
        #expect(await result == .failure(.notFound))
        #expect(attempts.value == 1)
    }

    @Test func errorOfTheFirstAttemptIsThrownIfBothFail() async {
        let failed = Promise<Void>()
        let query = Query { [attempts, first] _ throws(DatabaseError) in
            guard attempts.add() == 1 else {
                failed.fulfill(())
                throw .busy
            }
            guard case .fulfilled(let result) = await first.value(until: nil) else { throw .busy }
            return try result.get()
        }.hedging(after: .fixed(.seconds(1)), upTo: 1, timer: timer)
        async let result = query.result(7)
        await timer.timers(1)
        clock.advance(by: .seconds(1))
        _ = await failed.value(until: nil)
        first.fulfill(.failure(.notFound))
        #expect(await result == .failure(.notFound))
        #expect(attempts.value == 2)
    }

    @Test func secondAttemptsStayWithinTheShareOfCalls() async {
        let query = Query { [attempts] _ throws(DatabaseError) in
            attempts.add()
            return "Ada"
        }.hedging(after: .fixed(.zero), upTo: 0, timer: timer)
        for id in 1...9 { #expect(await query.result(id) == .success("Ada")) }
        #expect(attempts.value == 9)
        #expect(timer.count == 0)
    }
}
