import InwardCore
import InwardTesting
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct TimerServiceTests {
    private let clock = ManualClock()

    @Test func allTimersShareOneSleepingTask() async {
        let timer = TimerService(clock)
        let called = Mutex<[Int]>([])
        let all = Rendezvous(of: 2)
        for number in 1...10_000 {
            timer.schedule(at: .milliseconds(number)) {
                called.withLock { $0.append(number) }
                if number == 10_000 { Task { await all.arrive() } }
            }
        }
        await clock.sleepers(1)
        #expect(clock.sleeperCount == 1)
        #expect(timer.count == 10_000)
        clock.advance(by: .seconds(10))
        await all.arrive()
        #expect(called.withLock { $0 } == Array(1...10_000))
        #expect(timer.count == 0)
    }

    @Test func earlierTimerFiresDuringTheSleepForALaterOne() async {
        let timer = TimerService(clock)
        timer.schedule(at: .seconds(30)) {}
        await clock.sleepers(1)
        async let slept: Void? = try? timer.sleep(for: .seconds(2))
        await timer.timers(2)
        clock.advance(by: .seconds(2))
        await slept
        #expect(timer.now == .seconds(2))
        #expect(timer.count == 1)
    }

    @Test func earlierTimerEndsTheSleepForALaterOne() async {
        let timer = TimerService(clock)
        timer.schedule(at: .seconds(30)) {}
        await clock.sleepers(1)
        timer.schedule(at: .seconds(2)) {}
        while clock.sleeperCount != 1 || clock.earliestDeadline?.offset != .seconds(2) { await Task.yield() }
        #expect(timer.count == 2)
    }

    @Test func earlierTimerEndsARepeatedSleepForALaterOne() async {
        let timer = TimerService(clock)
        for seconds in [1, 30] { timer.schedule(at: .seconds(seconds)) {} }
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        await clock.sleepers(1)
        timer.schedule(at: .seconds(2)) {}
        while clock.sleeperCount != 1 || clock.earliestDeadline?.offset != .seconds(2) { await Task.yield() }
        #expect(timer.count == 2)
    }

    @Test func cancelledTimerDoesNotFire() async throws {
        let timer = TimerService(clock)
        let called = Mutex(0)
        let cancelled = timer.schedule(at: .seconds(1)) { called.withLock { $0 += 100 } }
        timer.schedule(at: .seconds(1)) { called.withLock { $0 += 1 } }
        #expect(timer.cancel(cancelled))
        #expect(!timer.cancel(cancelled))
        async let slept: Void = timer.sleep(until: .seconds(2))
        await timer.timers(2)
        clock.advance(by: .seconds(2))
        try await slept
        #expect(called.withLock { $0 } == 1)
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func zeroAndNegativeSleepsReturnImmediately(duration: Duration) async throws {
        let timer = TimerService(clock)
        try await timer.sleep(for: duration)
        #expect(timer.count == 0)
    }

    @Test func cancellationEndsASleepAndRemovesItsTimer() async {
        let timer = TimerService(clock)
        let sleeper = Task { try await timer.sleep(for: .seconds(5)) }
        await timer.timers(1)
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(timer.count == 0)
    }

    @Test func cancelledTaskDoesNotSleep() async {
        let timer = TimerService(clock)
        await withTaskGroup(of: Void.self) { group in
            group.cancelAll()
            group.addTask {
                await #expect(throws: CancellationError.self) { try await timer.sleep(for: .seconds(5)) }
            }
        }
        #expect(timer.count == 0)
    }

    @Test func releasedServiceStopsSleeping() async {
        weak var released: TimerService?
        do {
            let timer = TimerService(clock)
            released = timer
            timer.schedule(at: .seconds(5)) {}
            await clock.sleepers(1)
        }
        #expect(released == nil)
    }

    @Test func timersCanBeScheduledAndCancelledConcurrently() async {
        let timer = TimerService(ContinuousClock())
        let called = Counter()
        let taken = Counter()
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for round in 0..<200 {
                        let scheduled = timer.schedule(at: timer.now + .microseconds((task * 7 + round * 13) % 50)) {
                            called.add()
                        }
                        if round % 2 == 0, timer.cancel(scheduled) { taken.add() }
                    }
                    try? await timer.sleep(for: .milliseconds(1))
                }
            }
        }
        // Due after all others, which have fired when it does.
        try? await timer.sleep(for: .milliseconds(1))
        #expect(called.value + taken.value == 1_600)
        #expect(timer.count == 0)
    }
}
