import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardFetching

@Suite(.timeLimit(.minutes(5)))
struct ResilientLimitTests {
    private let clock = ManualClock()
    private let timer: TimerService

    init() {
        timer = TimerService(clock)
    }

    @Test func callsBeyondTheLimitWait() async throws {
        let (begun, gate) = (Promise<Void>(), Promise<Void>())
        let limiter = ConcurrencyLimiter(.fixed(1), waiting: 1, atMost: .seconds(60), timer: timer)
        let database = Database(.success("Ada"))
        let query = Query { id throws(DatabaseError) in
            let row = try database.row(id)
            if begun.fulfill(()) { _ = await gate.value(until: nil) }
            return row
        }.limitingConcurrency(to: limiter)
        async let first = query(1)
        _ = await begun.value(until: nil)
        async let second = query(2)
        await timer.timers(1)
        #expect(database.asked == [1])
        let error = await query.result(3).failure?.resilience
        #expect(error?.reason == .rejected)
        #expect(error?.wasStarted == false)
        let description = "the lookup was not sent: 1 request is under way and 1 waits, which is the limit"
        #expect(error?.description == description)
        gate.fulfill(())
        #expect(try await [first, second] == ["Ada", "Ada"])
        #expect(database.asked == [1, 2])
        #expect(limiter.underWay == 0)
    }

    @Test func cancelledOrLateWaitersAreNotStarted() async {
        let limiter = ConcurrencyLimiter(.fixed(1), timer: timer)
        let isFull = limiter.admit()
        #expect(isFull)
        let database = Database(.success("Ada"))
        let query = database.query.limitingConcurrency(to: limiter)
        let cancelled = await withTaskGroup(of: ResilienceError?.self) { group in
            group.cancelAll()
            group.addTask { await query.result(7).failure?.resilience }
            return await group.next() ?? nil
        }
        #expect(cancelled?.reason == .cancelled)
        #expect(cancelled?.wasStarted == false)
        let late = await Deadline(in: .zero, on: timer).carried { await query.result(7) }.get().failure?.resilience
        #expect(late?.reason == .timedOut)
        #expect(late?.wasStarted == false)
        #expect(database.asked.isEmpty)
    }

    @Test func failedCallsReleaseTheirPermit() async {
        let limiter = ConcurrencyLimiter(.fixed(1), waiting: 0, timer: timer)
        let query = Database(.failure(.busy)).query.limitingConcurrency(to: limiter)
        for id in 1...3 { #expect(await query.result(id) == .failure(.busy)) }
        #expect(limiter.underWay == 0)
    }

    @Test(arguments: [DatabaseError.busy, .notFound])
    func overloadLowersAnAdaptiveLimit(error: DatabaseError) async {
        let limiter = ConcurrencyLimiter(.adaptive(in: 1...100, from: 10), timer: timer)
        let query = Database(.failure(error)).query.limitingConcurrency(to: limiter) { $0 == .busy }
        #expect(await query.result(7) == .failure(error))
        #expect(limiter.limit == (error == .busy ? 9 : 10))
        #expect(limiter.underWay == 0)
    }

    @Test(arguments: [true, false])
    func successesRaiseAnAdaptiveLimitAndFailuresDoNot(succeeds: Bool) async {
        let limiter = ConcurrencyLimiter(.adaptive(in: 1...100, from: 1), timer: timer)
        let database = succeeds ? Database(.success("Ada")) : Database(.failure(.notFound))
        let query = database.query.limitingConcurrency(to: limiter)
        for id in 0..<100 { _ = await query.result(id) }
        #expect((limiter.limit > 1) == succeeds)
    }

    @Test func timeoutsMeanOverload() async {
        let limiter = ConcurrencyLimiter(.adaptive(in: 1...100, from: 10), timer: timer)
        let query = Query { _ throws(DatabaseError) in
            _ = await Promise<Void>().value(until: nil)
            throw .notFound
        }.timingOut(after: .seconds(1), timer: timer).limitingConcurrency(to: limiter)
        async let result = query.result(7)
        await timer.timers(1)
        clock.advance(by: .seconds(1))
        #expect(await result.failure?.resilience?.reason == .timedOut)
        #expect(limiter.limit == 9)
    }

    @Test func earlyCallsWaitForTheirSlotOrAreRejected() async throws {
        let database = Database(.success("Ada"))
        let query = database.query.limitingRate(to: 1, per: .seconds(1), timer: timer)
        #expect(try await query(1) == "Ada")
        async let second = query(2)
        await timer.timers(1)
        let error = await query.result(3).failure?.resilience
        #expect(error?.reason == .rejected)
        #expect(error?.retryAfter == .seconds(2))
        #expect(error?.wasStarted == false)
        #expect(database.asked == [1])
        clock.advance(by: .seconds(1))
        #expect(try await second == "Ada")
    }

    @Test func callsThatWereNotStartedReturnTheirSlot() async throws {
        let database = Database(.success("Ada"))
        let limiter = RateLimiter(1, per: .seconds(1), waitingAtMost: .zero, timer: timer)
        let late = database.query.timingOut(after: .zero, timer: timer).limitingRate(to: limiter)
        #expect(await late.result(1).failure?.resilience?.reason == .timedOut)
        #expect(try await database.query.limitingRate(to: limiter)(2) == "Ada")
    }
}
