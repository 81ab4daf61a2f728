import InwardCore
import InwardTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct SingleFlightTests {
    private struct ExampleError: Error, Equatable {}
    private typealias Flights = SingleFlight<String, Int, ExampleError>

    private let flights = Flights(whenAbandoned: .cancel)

    @Test func singleCallerGetsItsOwnWork() async {
        #expect(await flights.outcome(for: "a") { _ in 7 }.answer == .success(7))
        #expect(
            await flights.outcome(for: "a") { _ async throws(ExampleError) in throw ExampleError() }.answer
                == .failure(ExampleError())
        )
        #expect(flights.count == 0)
    }

    @Test func callerThatStartsTheWorkDoesNotCountAsJoining() async {
        let joined = Counter()
        #expect(
            await flights.outcome(for: "a") {
                joined.add()
            } _: { _ in
                7
            }.answer == .success(7)
        )
        let waiting = await flights.outcome(for: "b") {
            joined.add()
        } _: { _ in
            await Task.yield()
            return 7
        }
        #expect(waiting.answer == .success(7))
        #expect(joined.value == 0)
    }

    @Test func workIsInFlightUntilItEnds() async {
        #expect(!flights.isUnderWay("a"))
        let outcome = await flights.outcome(for: "a") { _ in
            flights.isUnderWay("a") && !flights.isUnderWay("b") ? 7 : 0
        }
        #expect(outcome.answer == .success(7))
        #expect(!flights.isUnderWay("a"))
    }

    @Test func detachedWorkIsNotInFlight() async {
        let outcome = await flights.outcome(for: "a") { _ in
            flights.detachAll()
            return flights.isUnderWay("a") ? 0 : 7
        }
        #expect(outcome.answer == .success(7))
    }

    @Test func workThatIsCancelledWhileItStartsEnds() async throws {
        let scheduler = DeterministicScheduler(seed: 7)
        let flights = Flights(whenAbandoned: .finish, executor: scheduler.executor)
        let answer = try await scheduler.run {
            await flights.outcome(for: "a") { _ async throws(ExampleError) in
                // Runs in the task that starts the work, before it waits for anything.
                flights.cancelAll()
                // No other task arrives, so this wait ends only when it is cancelled.
                await Rendezvous(of: 2).arrive()
                throw ExampleError()
            }.answer
        }
        #expect(answer == .failure(ExampleError()))
    }

    @Test func tenThousandConcurrentCallersShareOneAnswer() async {
        let begun = Counter()
        let joined = Counter()
        let allJoined = Promise<Void>()
        let work: @Sendable () async throws(ExampleError) -> Int = {
            begun.add()
            _ = await allJoined.value()
            return 7
        }
        let answers = await withTaskGroup(of: Result<Int, ExampleError>?.self) { group in
            for _ in 0..<10_000 {
                group.addTask {
                    await flights.outcome(for: "a") {
                        if joined.add() == 9_999 { allJoined.fulfill(()) }
                    } _: { _ async throws(ExampleError) in
                        try await work()
                    }.answer
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(begun.value == 1)
        #expect(answers.count == 10_000)
        #expect(answers.allSatisfy { $0 == .success(7) })
        #expect(flights.count == 0)
    }

    @Test func differentKeysDoNotShareWork() async {
        let both = Rendezvous(of: 2)
        async let first = flights.outcome(for: "a") { _ async throws(ExampleError) in
            await both.arrive()
            return 1
        }
        async let second = flights.outcome(for: "b") { _ async throws(ExampleError) in
            await both.arrive()
            return 2
        }
        #expect(await first.answer == .success(1))
        #expect(await second.answer == .success(2))
    }

    @Test func cancelledCallerDoesNotEndTheWorkOfTheOthers() async {
        let isBegun = Promise<Void>()
        let isJoined = Promise<Void>()
        let isReleased = Promise<Void>()
        let first = Task {
            await flights.outcome(for: "a") { _ async throws(ExampleError) in
                isBegun.fulfill(())
                _ = await isReleased.value()
                return Task.isCancelled ? 0 : 7
            }.answer
        }
        _ = await isBegun.value()
        async let second = flights.outcome(for: "a") {
            isJoined.fulfill(())
        } _: { _ in
            1
        }.answer
        _ = await isJoined.value()
        first.cancel()
        // The caller no longer waits, although the work has not ended.
        #expect(await first.value == nil)
        isReleased.fulfill(())
        #expect(await second == .success(7))
    }

    @Test func abandonedWorkIsCancelledAndCannotBeJoined() async {
        let isBegun = Promise<Void>()
        let isCancelled = Promise<Bool>()
        let nowhere = Rendezvous(of: 2)
        let caller = Task {
            await flights.outcome(for: "a") { _ in
                isBegun.fulfill(())
                await nowhere.arrive()
                isCancelled.fulfill(Task.isCancelled)
                return 0
            }.answer
        }
        _ = await isBegun.value()
        caller.cancel()
        #expect(await caller.value == nil)
        #expect(await flights.outcome(for: "a") { _ in 7 }.answer == .success(7))
        guard case .fulfilled(true) = await isCancelled.value() else {
            Issue.record("The work was not cancelled.")
            return
        }
    }

    @Test func abandonedWorkThatContinuesAnswersLaterCallers() async {
        let flights = Flights(whenAbandoned: .finish)
        let isBegun = Promise<Void>()
        let isReleased = Promise<Void>()
        let caller = Task {
            await flights.outcome(for: "a") { _ in
                isBegun.fulfill(())
                _ = await isReleased.value()
                return Task.isCancelled ? 0 : 7
            }.answer
        }
        _ = await isBegun.value()
        caller.cancel()
        #expect(await caller.value == nil)
        #expect(flights.count == 1)
        async let late = flights.outcome(for: "a") {
            isReleased.fulfill(())
        } _: { _ in
            1
        }.answer
        #expect(await late == .success(7))
    }

    @Test func deadlineEndsOneWaitAndNotTheWork() async {
        let clock = ManualClock()
        let timer = TimerService(clock)
        let deadline = Deadline(in: .seconds(5), on: timer)
        let isReleased = Promise<Void>()
        let isJoined = Promise<Void>()
        async let first = deadline.carried {
            await flights.outcome(for: "a") { _ in
                // The work does not inherit the deadline of the caller that started it.
                let isFree = Deadline.current == nil
                _ = await isReleased.value()
                return isFree ? 7 : 0
            }.isLate
        }
        await timer.timers(1)
        async let second = flights.outcome(for: "a") {
            isJoined.fulfill(())
        } _: { _ in
            1
        }.answer
        _ = await isJoined.value()
        clock.advance(by: .seconds(5))
        #expect(await first == .success(true))
        isReleased.fulfill(())
        let answer = await second
        #expect(answer == .success(7))
    }

    /// Many tasks call, wait, are cancelled and call again, in the order that the scheduler chooses. Each call is answered
    /// once, by work that started after the call or was in flight then, and no flight remains.
    @Test(arguments: 1...10)
    func randomWalkAnswersEveryCallerOnce(seed: UInt64) async {
        let running = Counter()
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<16 {
                group.addTask {
                    var randomness = SplitMix64(seed: seed &* 1_000 &+ UInt64(task))
                    for _ in 0..<50 {
                        let key = "\(Int.random(in: 0..<3, using: &randomness))"
                        let yields = Int.random(in: 0..<20, using: &randomness)
                        let patience = Int.random(in: 0..<30, using: &randomness)
                        let call = Task {
                            await flights.outcome(for: key) { _ in
                                running.add()
                                for _ in 0..<yields { await Task.yield() }
                                running.add(-1)
                                return Int(key) ?? -1
                            }.answer
                        }
                        for _ in 0..<patience { await Task.yield() }
                        let isCancelled = patience % 3 == 0
                        if isCancelled { call.cancel() }
                        let answer = await call.value
                        #expect(answer == .success(Int(key) ?? -1) || isCancelled && answer == nil, "seed \(seed)")
                    }
                }
            }
        }
        #expect(flights.count == 0, "seed \(seed)")
    }
}

extension Promise.Outcome {
    fileprivate var answer: Value? { if case .fulfilled(let answer) = self { answer } else { nil } }

    fileprivate var isLate: Bool { if case .deadlinePassed = self { true } else { false } }
}
