import InwardCore
import InwardTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct PromiseTests {
    private let clock = ManualClock()
    private let promise = Promise<Int>()

    @Test func firstValueWins() async {
        #expect(promise.fulfill(1))
        #expect(!promise.fulfill(2))
        #expect(await promise.value().kept == 1)
    }

    @Test func waiterGetsAValueThatComesLater() async {
        async let value = promise.value().kept
        promise.fulfill(1)
        #expect(await value == 1)
    }

    @Test func fulfillReturnsWhetherTheValueWasAccepted() async throws {
        try await DeterministicScheduler(seed: 1).run { [promise] in
            async let value = promise.value().kept
            // The other task is waiting by now.
            for _ in 0..<32 { await Task.yield() }
            #expect(promise.fulfill(1))
            #expect(!promise.fulfill(2))
            #expect(await value == 1)
        }
    }

    @Test func cancellationEndsTheWaitAndRejectsLaterValues() async {
        await withTaskGroup(of: Promise<Int>.Outcome.self) { group in
            group.addTask { await promise.value() }
            group.cancelAll()
            guard case .cancelled? = await group.next() else {
                Issue.record("The wait was not cancelled.")
                return
            }
        }
        #expect(!promise.fulfill(1))
    }

    @Test func cancelledWaiterGetsAValueThatIsAlreadyThere() async {
        promise.fulfill(1)
        await withTaskGroup(of: Int?.self) { group in
            group.cancelAll()
            group.addTask { await promise.value().kept }
            #expect(await group.next() == 1)
        }
    }

    @Test func deadlineEndsTheWait() async {
        let timer = TimerService(clock)
        let deadline = Deadline(in: .seconds(5), on: timer)
        // Nothing cancels the task: the wait checks the deadline itself.
        async let outcome = deadline.carried { await promise.value() }
        await timer.timers(1)
        clock.advance(by: .seconds(5))
        guard case .success(.deadlinePassed) = await outcome else {
            Issue.record("The deadline did not end the wait.")
            return
        }
        #expect(!promise.fulfill(1))
        #expect(timer.count == 0)
    }

    @Test func waitThatEndsInTimeLeavesNoTimer() async {
        let timer = TimerService(clock)
        async let value = Deadline(in: .seconds(5), on: timer).carried { await promise.value().kept }
        await timer.timers(1)
        promise.fulfill(1)
        #expect(await value == .success(1))
        #expect(timer.count == 0)
    }
}

extension Promise.Outcome {
    fileprivate var kept: Value? { if case .fulfilled(let value) = self { value } else { nil } }
}
