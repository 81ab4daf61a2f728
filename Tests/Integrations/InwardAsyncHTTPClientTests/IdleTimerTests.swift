import InwardCore
import InwardTesting
import Synchronization
import Testing

@testable import InwardAsyncHTTPClient

@Suite(.timeLimit(.minutes(5)))
struct IdleTimerTests {
    private let clock = ManualClock()

    @Test func timerElapsesAfterItsTimeout() async {
        let timer = TimerService(clock)
        let elapsed = Promise<Duration>()
        IdleTimer(timeout: .seconds(3), timer: timer).whenElapsed { elapsed.fulfill(timer.now) }
        #expect(timer.count == 1)
        clock.advance(by: .seconds(3))
        #expect(await elapsed.time == .seconds(3))
        #expect(timer.count == 0)
    }

    @Test func restartExtendsTheTimer() async {
        let timer = TimerService(clock)
        let elapsed = Promise<Duration>()
        let idle = IdleTimer(timeout: .seconds(3), timer: timer)
        idle.whenElapsed { elapsed.fulfill(timer.now) }
        clock.advance(by: .seconds(2))
        idle.restart()
        let isPast = Promise<Void>()
        timer.schedule(at: .seconds(4)) { isPast.fulfill(()) }
        clock.advance(by: .seconds(2))
        _ = await isPast.value()
        clock.advance(by: .seconds(1))
        #expect(await elapsed.time == .seconds(5))
    }

    @Test func expiredTimerElapsesImmediately() async {
        let timer = TimerService(clock)
        let idle = IdleTimer(timeout: .seconds(3), timer: timer)
        clock.advance(by: .seconds(3))
        let elapsed = Promise<Duration>()
        idle.whenElapsed { elapsed.fulfill(timer.now) }
        #expect(await elapsed.time == .seconds(3))
    }

    @Test func stoppedTimerNeverElapses() {
        let timer = TimerService(clock)
        let idle = IdleTimer(timeout: .seconds(3), timer: timer)
        idle.whenElapsed { Issue.record("The timer elapsed.") }
        idle.stop()
        #expect(timer.count == 0)
        idle.whenElapsed { Issue.record("The timer elapsed.") }
        #expect(timer.count == 0)
    }
}

extension Promise<Duration> {
    fileprivate var time: Duration? {
        get async { if case .fulfilled(let time) = await value() { time } else { nil } }
    }
}
