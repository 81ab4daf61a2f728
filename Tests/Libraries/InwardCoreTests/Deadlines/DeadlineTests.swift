import InwardCore
import InwardTesting
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct DeadlineTests {
    private struct ExampleError: Error, Equatable {}

    private let clock = ManualClock()
    /// A rendezvous that never completes, so a task that waits here continues only when it is cancelled.
    private let nowhere = Rendezvous(of: 2)

    @Test func workThatEndsInTimeReturnsItsValue() async {
        let deadline = Deadline(in: .seconds(10), on: clock)
        #expect(await deadline.bound { 7 } == .success(7))
        let failure = await deadline.bound { () async throws(ExampleError) -> Int in throw ExampleError() }
        #expect(failure == .failure(ExampleError()))
    }

    @Test func stopwatchStartsWithTheDeadline() {
        let timer = TimerService(clock)
        clock.advance(by: .seconds(5))
        let stopwatch = Deadline(in: .seconds(60), on: timer).stopwatch
        #expect(stopwatch.elapsed == .zero)
        clock.advance(by: .seconds(3))
        #expect(stopwatch.elapsed == .seconds(3))
    }

    @Test func workMayRunUntilTheDeadline() async {
        let timer = TimerService(clock)
        let deadline = Deadline(in: .seconds(10), on: timer)
        let released = Rendezvous(of: 2)
        async let answer = deadline.bound {
            await released.arrive()
            return Task.isCancelled
        }
        await clock.sleepers(1)
        clock.advance(by: .seconds(10) - .nanoseconds(1))
        await clock.sleepers(1)
        await released.arrive()
        #expect(await answer == .success(false))
        // No timer is left.
        #expect(timer.count == 0)
    }

    @Test func workThatMissesTheDeadlineIsCancelledAndAwaited() async {
        let deadline = Deadline(in: .seconds(10), on: clock)
        let ended = Mutex(false)
        async let answer = deadline.bound {
            await nowhere.arrive()
            ended.withLock { $0 = Task.isCancelled }
            return 7
        }
        await clock.sleepers(1)
        clock.advance(by: .seconds(10))
        #expect(await answer == nil)
        #expect(ended.withLock { $0 })
    }

    @Test func workThatEndsAtTheDeadlineHasMissedIt() async {
        let value = await Deadline(in: .seconds(10), on: clock).bound { [clock] in
            clock.advance(by: .seconds(10))
            return 7
        }
        #expect(value == nil)
        // Work that notices the deadline first has no better explanation than the caller.
        let deadline = Deadline(in: .seconds(10), on: clock)
        let failure = await deadline.bound { [clock] () async throws(ExampleError) -> Int in
            clock.advance(by: .seconds(11))
            throw ExampleError()
        }
        #expect(failure == nil)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(10)])
    func workDoesNotStartAfterTheDeadline(limit: Duration) async {
        let deadline = Deadline(in: limit, on: clock)
        clock.advance(by: .seconds(10))
        let begun = Mutex(false)
        let answer: Result<Void, Never>? = await deadline.bound { begun.withLock { $0 = true } }
        #expect(answer == nil)
        #expect(!begun.withLock { $0 })
    }

    @Test func remainingTimeFollowsTheClock() {
        clock.advance(by: .seconds(3))
        let deadline = Deadline(in: .seconds(10), on: clock)
        #expect(deadline.remaining == .seconds(10))
        clock.advance(by: .seconds(4))
        #expect(deadline.remaining == .seconds(6))
        clock.advance(by: .seconds(7))
        #expect(deadline.remaining == .seconds(-1))
    }

    @Test func outerDeadlineAppliesIfItIsEarlier() async {
        let innerClock = ManualClock()
        let inner = Mutex<Result<Duration?, Never>??>(nil)
        async let outer = Deadline(in: .seconds(5), on: clock).bound {
            let answer = await Deadline(in: .seconds(10), on: innerClock).bound {
                let remaining = Deadline.current?.remaining
                await nowhere.arrive()
                return remaining
            }
            inner.withLock { $0 = .some(answer) }
            return Deadline.current?.remaining
        }
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        #expect(await outer == nil)
        // The outer deadline cancelled the inner work, and the inner clock has no timer.
        #expect(inner.withLock { $0 } == .success(.seconds(5)))
        #expect(innerClock.sleeperCount == 0)
    }

    /// Compares the remaining times, because the clocks may have started at different times.
    @Test(arguments: [false, true]) func earlierOfTwoDeadlinesApplies(areOnOneTimer: Bool) async {
        let timer = TimerService(clock)
        clock.advance(by: .seconds(100))
        let innerTimer = areOnOneTimer ? timer : TimerService(ManualClock())
        let remaining = await Deadline(in: .seconds(5), on: timer).carried { () async throws(Never) in
            let later = await Deadline(in: .seconds(10), on: innerTimer).carried { Deadline.current?.remaining }
            let earlier = await Deadline(in: .seconds(1), on: innerTimer).carried { Deadline.current?.remaining }
            return [later, earlier].map { $0.get() }
        }
        #expect(remaining == .success([.seconds(5), .seconds(1)]))
    }

    @Test func innerDeadlineAppliesIfItIsEarlier() async {
        let innerClock = ManualClock()
        async let outer = Deadline(in: .seconds(10), on: clock).bound {
            let answer = await Deadline(in: .seconds(5), on: innerClock).bound {
                await nowhere.arrive()
            }
            return (isLate: answer == nil, remaining: Deadline.current?.remaining)
        }
        await innerClock.sleepers(1)
        innerClock.advance(by: .seconds(5))
        let answer = await outer
        let (isLate, remaining) = (answer?.get().isLate, answer?.get().remaining)
        #expect(isLate == true)
        #expect(remaining == .seconds(10))
    }

    @Test func deadlinePropagatesToChildTasksOnly() async {
        #expect(Deadline.current == nil)
        let deadline = Deadline(in: .seconds(5), on: clock)
        let seen = await deadline.bound {
            async let byChild = Deadline.current?.remaining
            let byGroup = await withTaskGroup { group in
                group.addTask { Deadline.current?.remaining }
                return await group.next() ?? nil
            }
            return await [Deadline.current?.remaining, byChild, byGroup]
        }
        #expect(seen == .success([.seconds(5), .seconds(5), .seconds(5)]))
        #expect(Deadline.current == nil)
    }

    @Test func cancelledCallerGetsTheResultOfTheWork() async {
        let deadline = Deadline(in: .seconds(5), on: clock)
        await withTaskGroup(of: Result<Bool, Never>?.self) { group in
            group.addTask {
                await deadline.bound {
                    await nowhere.arrive()
                    // Yields, so that the cancelled wait for the deadline can end first.
                    for _ in 1...1_000 { await Task.yield() }
                    return Task.isCancelled
                }
            }
            await clock.sleepers(1)
            group.cancelAll()
            #expect(await group.next() == .success(true))
        }
    }

    @Test func callerThatIsAlreadyCancelledGetsTheResultOfTheWork() async {
        let deadline = Deadline(in: .seconds(5), on: clock)
        await withTaskGroup(of: Result<Bool, Never>?.self) { group in
            group.cancelAll()
            group.addTask { await deadline.bound { Task.isCancelled } }
            #expect(await group.next() == .success(true))
        }
    }
}
