import InwardCore
import InwardTesting
import Testing

@testable import InwardScopes

/// Work of a scope that has a deadline.
@Suite(.timeLimit(.minutes(5)))
struct ScopeDeadlineTests {
    private let clock = ManualClock()

    @Test func workDoesNotBeginAfterItsDeadline() async throws {
        let app = await Scope.example()
        let deadline = Deadline(in: .seconds(5), on: clock)
        clock.advance(by: .seconds(5))
        let result = try await app.run(by: { _ in deadline }) { _ in Issue.record("The work began.") }
        #expect(result == nil)
    }

    @Test func workIsCancelledAtItsDeadline() async throws {
        let app = await Scope.example()
        let deadline = Deadline(in: .seconds(5), on: clock)
        async let result = app.run(by: { _ in deadline }) { _ in
            guard case .cancelled = await Promise<Void>().value(until: nil) else {
                Issue.record("The work was not cancelled.")
                return
            }
        }
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        #expect(try await result == nil)
        #expect(app.isOpen && !app.hasWork)
    }

    @Test func answerAfterTheDeadlineDoesNotCount() async throws {
        let app = await Scope.example()
        let deadline = Deadline(in: .seconds(5), on: clock)
        let result = try await app.run(by: { _ in deadline }) { [clock] _ in
            clock.advance(by: .seconds(5))
            return 7
        }
        #expect(result == nil)
    }

    @Test func deadlineIsForgottenWhenTheWorkHasEnded() async throws {
        let app = await Scope.example()
        let timer = TimerService(clock)
        let result = try await app.run(by: { _ in Deadline(in: .seconds(5), on: timer) }) { _ in
            // Ends after the deadline was scheduled.
            await timer.timers(1)
            return timer.count
        }
        #expect(result?.get() == 1)
        #expect(timer.count == 0)
    }

    @Test func workContinuesOnTheExecutorOfItsDeadline() async throws {
        let scheduler = DeterministicScheduler()
        print("The seed is \(scheduler.seed).")
        let app = await Scope.example()
        let isThere = try await scheduler.run {
            let result = try await app.run(by: { _ in Deadline(in: .seconds(5), on: scheduler.timer) }) { _ in
                await Task.yield()
                // `unsafe`: the task is used only while the closure runs.
                return unsafe withUnsafeCurrentTask {
                    unsafe $0?.unownedTaskExecutor == scheduler.executor.asUnownedTaskExecutor()
                }
            }
            return result?.get()
        }
        #expect(isThere == true)
    }

    @Test func workThatIsCancelledBeforeItBeginsIsCancelledFromItsBeginning() async throws {
        let app = await Scope.example()
        let result = try await app.run(
            by: { _ in
                for work in app.workInFlight { work.work.cancel() }
                return nil
            },
            { _ in Task.isCancelled }
        )
        #expect(result?.get() == true)
    }
}
