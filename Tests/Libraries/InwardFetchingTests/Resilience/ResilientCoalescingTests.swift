import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ResilientCoalescingTests {
    /// On one actor, so that each call has joined when the next one runs.
    @MainActor @Test(arguments: [true, false])
    func concurrentEqualCallsAreCoalesced(succeeds: Bool) async {
        let gate = Promise<Void>()
        let database = succeeds ? Database(.success("Ada")) : Database(.failure(.busy))
        let query = Query { id throws(DatabaseError) in
            _ = await gate.value(until: nil)
            return try database.row(id)
        }.coalescing()
        let calls = (1...9).map { _ in Task { @MainActor in await query.result(7) } }
        let last = Task { @MainActor in gate.fulfill(()) }
        _ = await last.value
        for call in calls { #expect(await call.value == (succeeds ? .success("Ada") : .failure(.busy))) }
        #expect(database.asked == [7])
        _ = await query.result(7)
        _ = await query.result(8)
        #expect(database.asked == [7, 7, 8])
    }

    @Test func cancellationsAndDeadlinesEndOnlyTheirOwnWait() async throws {
        let clock = ManualClock()
        let timer = TimerService(clock)
        let (begun, gate) = (Promise<Void>(), Promise<Void>())
        let query = Query { _ throws(DatabaseError) in
            begun.fulfill(())
            guard case .fulfilled = await gate.value(until: nil) else { throw .busy }
            return "Ada"
        }.coalescing(whenAbandoned: .finish)
        let first = Task { await query.result(7) }
        _ = await begun.value(until: nil)
        first.cancel()
        let cancelled = await first.value.failure?.resilience
        #expect(cancelled?.reason == .cancelled && cancelled?.wasStarted == true)
        async let late = Deadline(in: .seconds(1), on: timer).carried { await query.result(7) }
        await timer.timers(1)
        clock.advance(by: .seconds(1))
        let failure = await late.get().failure?.resilience
        #expect(failure?.reason == .timedOut && failure?.wasStarted == true)
        gate.fulfill(())
        #expect(try await query(7) == "Ada")
    }
}
