import InwardTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ManualClockTests {
    private let clock = ManualClock()

    private func instant(_ seconds: Int) -> ManualClock.Instant {
        ManualClock.Instant(offset: .seconds(seconds))
    }

    @Test func advancesAddUp() {
        #expect(clock.now == instant(0))
        clock.advance(by: .seconds(2))
        clock.advance(by: .seconds(-1))
        clock.advance(by: .seconds(3))
        #expect(clock.now == instant(5))
        #expect(clock.now.advanced(by: .seconds(2)) == instant(7))
        #expect(clock.now.duration(to: instant(7)) == .seconds(2))
        #expect(clock.minimumResolution == .zero)
    }

    @Test func taskSleepsUntilItsDeadline() async throws {
        async let woken = {
            try await clock.sleep(for: .seconds(10))
            return clock.now
        }()
        await clock.sleepers(1)
        clock.advance(by: .seconds(9))
        // The task still sleeps. Otherwise, this would wait forever.
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        #expect(try await woken == instant(10))
    }

    @Test func sleepUntilAPastDeadlineReturnsImmediately() async throws {
        clock.advance(by: .seconds(10))
        try await clock.sleep(until: instant(10))
        try await clock.sleep(until: instant(3))
    }

    @Test func earliestDeadlineWakesFirst() async throws {
        let executor = SteppedExecutor()
        let woken = Mutex<[String]>([])
        try await withThrowingTaskGroup { group in
            for (name, seconds) in [("c", 3), ("a", 1), ("e", 9), ("b1", 2), ("d", 4), ("b2", 2)] {
                group.addTask(executorPreference: executor) { @Sendable in
                    try await clock.sleep(until: instant(seconds))
                    woken.withLock { $0.append(name) }
                }
            }
            executor.runAll()
            clock.advance(by: .seconds(4))
            executor.runAll()
            #expect(woken.withLock(\.self) == ["a", "b1", "b2", "c", "d"])
            clock.advance(by: .seconds(5))
            executor.runAll()
            try await group.waitForAll()
        }
        #expect(woken.withLock(\.last) == "e")
    }

    @Test func earliestDeadlineIsReportedWhileTasksSleep() async {
        #expect(clock.earliestDeadline == nil)
        await withTaskGroup { group in
            for seconds in [3, 1, 2] { group.addTask { try? await clock.sleep(until: instant(seconds)) } }
            await clock.sleepers(3)
            #expect(clock.earliestDeadline == instant(1))
            clock.advance(by: .seconds(1))
            #expect(clock.earliestDeadline == instant(2))
            group.cancelAll()
        }
        #expect(clock.earliestDeadline == nil)
    }

    @Test func cancelledSleeperWakesImmediately() async {
        await withTaskGroup { group in
            group.addTask {
                await #expect(throws: CancellationError.self) { try await clock.sleep(for: .seconds(10)) }
                // A task that is already cancelled does not fall asleep, even if the deadline has passed.
                await #expect(throws: CancellationError.self) { try await clock.sleep(for: .seconds(10)) }
                await #expect(throws: CancellationError.self) { try await clock.sleep(until: instant(-1)) }
            }
            await clock.sleepers(1)
            group.cancelAll()
        }
        // No task is woken twice.
        clock.advance(by: .seconds(10))
    }

    @Test func lastSleeperReleasesTheWaiters() async throws {
        await clock.sleepers(0)
        let executor = SteppedExecutor()
        try await withThrowingTaskGroup { group in
            for _ in 0..<20 {
                group.addTask(executorPreference: executor) {
                    await clock.sleepers(20)
                    clock.advance(by: .seconds(1))
                }
            }
            // A task that arrived after the others had woken would wait for more sleepers.
            executor.runAll()
            for _ in 0..<20 {
                group.addTask(executorPreference: executor) { try await clock.sleep(until: instant(1)) }
            }
            executor.runAll()
            try await group.waitForAll()
        }
        #expect(clock.now == instant(20))
    }

    @Test func cancelledTaskDoesNotWaitForSleepers() async {
        for turns in 0..<20 {
            await withTaskGroup { group in
                group.addTask {
                    await clock.sleepers(1)
                    await clock.sleepers(2)
                }
                for _ in 0..<turns { await Task.yield() }
                group.cancelAll()
            }
        }
    }
}
