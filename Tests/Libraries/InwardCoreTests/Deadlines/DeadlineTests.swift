import InwardCore
import InwardTesting
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct DeadlineTests {
    private struct ExampleError: Error, Equatable {}

    private let clock = ManualClock()
    /// Where nobody else comes, so that who waits there goes on when cancelled and not before.
    private let nowhere = Rendezvous(of: 2)

    @Test func workThatIsDoneInTimeGivesItsAnswer() async {
        let deadline = Deadline(in: .seconds(10), on: clock)
        #expect(await deadline.bound { 7 } == .success(7))
        let failure = await deadline.bound { () async throws(ExampleError) -> Int in throw ExampleError() }
        #expect(failure == .failure(ExampleError()))
    }

    @Test func itsStopwatchBeginsWithIt() {
        let timer = TimerService(clock)
        clock.advance(by: .seconds(5))
        let stopwatch = Deadline(in: .seconds(60), on: timer).stopwatch
        #expect(stopwatch.elapsed == .zero)
        clock.advance(by: .seconds(3))
        #expect(stopwatch.elapsed == .seconds(3))
    }

    @Test func workHasTimeUntilTheDeadline() async {
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
        // Nothing waits for the deadline any more.
        #expect(timer.count == 0)
    }

    @Test func workThatTakesTooLongIsCancelledAndWaitedForWhateverItGives() async {
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

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(10)])
    func workIsNotBegunBehindTheDeadline(limit: Duration) async {
        let deadline = Deadline(in: limit, on: clock)
        clock.advance(by: .seconds(10))
        let begun = Mutex(false)
        let answer: Result<Void, Never>? = await deadline.bound { begun.withLock { $0 = true } }
        #expect(answer == nil)
        #expect(!begun.withLock { $0 })
    }

    @Test func theRemainingTimeIsToldByTheClock() {
        clock.advance(by: .seconds(3))
        let deadline = Deadline(in: .seconds(10), on: clock)
        #expect(deadline.remaining == .seconds(10))
        clock.advance(by: .seconds(4))
        #expect(deadline.remaining == .seconds(6))
        clock.advance(by: .seconds(7))
        #expect(deadline.remaining == .seconds(-1))
    }

    @Test func theOuterDeadlineCountsIfItIsTheEarlier() async {
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
        // The inner work was cancelled by the outer, and nothing waited by the clock of its own.
        #expect(inner.withLock { $0 } == .success(.seconds(5)))
        #expect(innerClock.sleeperCount == 0)
    }

    /// By how much is left, because the clocks need not have begun together.
    @Test(arguments: [false, true]) func theEarlierOfTwoDeadlinesCounts(areOnOneTimer: Bool) async {
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

    @Test func theInnerDeadlineCountsIfItIsTheEarlier() async {
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

    @Test func theDeadlineOfATaskIsThatOfItsChildrenAndOfNobodyElse() async {
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

    @Test func whoIsCancelledGetsWhatTheWorkItselfGives() async {
        let deadline = Deadline(in: .seconds(5), on: clock)
        await withTaskGroup(of: Result<Bool, Never>?.self) { group in
            group.addTask {
                await deadline.bound {
                    await nowhere.arrive()
                    // What waits for the deadline is cancelled too, and heard of first.
                    for _ in 1...1_000 { await Task.yield() }
                    return Task.isCancelled
                }
            }
            await clock.sleepers(1)
            group.cancelAll()
            #expect(await group.next() == .success(true))
        }
    }

    @Test func whoIsCancelledBeforeStillGetsWhatTheWorkGives() async {
        let deadline = Deadline(in: .seconds(5), on: clock)
        await withTaskGroup(of: Result<Bool, Never>?.self) { group in
            group.cancelAll()
            group.addTask { await deadline.bound { Task.isCancelled } }
            #expect(await group.next() == .success(true))
        }
    }
}
