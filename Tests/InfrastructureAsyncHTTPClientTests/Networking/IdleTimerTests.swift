import Testing

@testable import InfrastructureAsyncHTTPClient

@Suite(.timeLimit(.minutes(1)))
struct IdleTimerTests {
    @Test func itElapsesAfterItsTime() async {
        let clock = ScriptedClock { clock, wakeTime in clock.set(to: wakeTime) }
        clock.set(to: .seconds(1))
        let timer = IdleTimer(timeout: .seconds(3), clock: clock)
        #expect(await timer.elapses())
        #expect(clock.wakeTimes == [.seconds(4)])
    }

    @Test func itWaitsAgainForAsLongWhenItIsRestarted() async {
        let (isAsleep, fallsAsleep) = AsyncStream<Never>.makeStream()
        let (mayWake, wake) = AsyncStream<Never>.makeStream()
        let clock = ScriptedClock { clock, wakeTime in
            if clock.wakeTimes.count > 1 { return clock.set(to: wakeTime) }
            fallsAsleep.finish()
            for await _ in mayWake {}
        }
        let timer = IdleTimer(timeout: .seconds(3), clock: clock)
        async let elapses = timer.elapses()
        for await _ in isAsleep {}
        clock.set(to: .seconds(2))
        timer.restart()
        clock.set(to: .seconds(3))
        wake.finish()
        #expect(await elapses)
        #expect(clock.wakeTimes == [.seconds(3), .seconds(5)])
    }

    @Test func itDoesNotElapseForWhoIsCancelled() async {
        let clock = ScriptedClock { _, _ in throw CancellationError() }
        let timer = IdleTimer(timeout: .seconds(3), clock: clock)
        #expect(await !timer.elapses())
    }
}
