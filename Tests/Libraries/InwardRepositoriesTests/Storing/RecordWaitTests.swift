import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct RecordWaitTests {
    private typealias Wait = RecordWait<Int>

    private let scheduler = DeterministicScheduler(seed: 7)

    /// Starts a task that waits, and returns when it is waiting.
    private func waiting(_ wait: Wait) async throws -> Task<Int, any Error> {
        let task = Task(executorPreference: scheduler.executor) { try await wait.value {} }
        while !wait.isWaiting { try await scheduler.timer.sleep(for: .seconds(1)) }
        return task
    }

    @Test func waiterGetsTheOutcomeOfTheWork() async throws {
        let error = RecordStoreError(.full, explanation: "There is no room.")
        for outcome in [.success(7), .failure(error)] as [Wait.Outcome] {
            let wait = Wait()
            #expect(!wait.isWaiting)
            let given = await Result { () async throws(RecordStoreError) in
                try await wait.value {
                    #expect(wait.isWaiting)
                    #expect(wait.begin())
                    #expect(!wait.isWaiting)
                    // The work begins only once.
                    #expect(!wait.begin())
                    wait.end(outcome)
                    wait.end(.success(8))
                }
            }
            #expect(given == outcome)
            #expect(!wait.isWaiting && !wait.begin())
        }
    }

    @Test func workThatEndedBeforeTheWaitIsNotStarted() async throws {
        let wait = Wait()
        #expect(!wait.begin())
        wait.end(.success(7))
        wait.end(.success(8))
        #expect(try await wait.value { Issue.record("The work was started after it had ended.") } == 7)
    }

    @Test(arguments: [false, true]) func leavingIsReportedUnlessTheWorkHasBegun(hasBegun: Bool) async throws {
        try await scheduler.run {
            let left = Counter()
            let wait = Wait(whenLeft: { left.add() })
            let task = try await waiting(wait)
            if hasBegun { #expect(wait.begin()) }
            task.cancel()
            wait.end(.success(7))
            _ = await task.result
            #expect(left.value == (hasBegun ? 0 : 1))
        }
    }

    @Test func cancelledWaiterLeavesWorkThatHasNotBegun() async throws {
        try await scheduler.run {
            let wait = Wait()
            let task = try await waiting(wait)
            task.cancel()
            let error = await #expect(throws: RecordStoreError.self) { try await task.value }
            #expect(error?.reason == .cancelled)
            #expect(error?.explanation == "The task was cancelled before the store started the operation.")
            #expect(!wait.begin())
            wait.end(.success(7))
        }
    }

    @Test func cancelledWaiterWaitsForWorkThatHasBegun() async throws {
        try await scheduler.run {
            let wait = Wait()
            let task = try await waiting(wait)
            #expect(wait.begin())
            task.cancel()
            wait.end(.success(7))
            #expect(try await task.value == 7)
        }
    }

    @Test func cancelledTaskStartsNothing() async {
        let wait = Wait()
        let outcome = await withTaskGroup(of: Wait.Outcome.self) { group in
            group.cancelAll()
            group.addTask {
                await Result { () async throws(RecordStoreError) in
                    try await wait.value { Issue.record("The work was started in a cancelled task.") }
                }
            }
            return await group.next()
        }
        #expect(outcome?.failure?.explanation == "The task was cancelled before the store started the operation.")
        #expect(!wait.begin())
    }

    @Test func deadlineEndsTheWaitForWorkThatHasNotBegun() async throws {
        try await scheduler.run {
            let (wait, deadline) = (Wait(), Deadline(in: .seconds(5), on: scheduler.timer))
            for start in [Duration.zero, .seconds(5)] {
                let outcome = await deadline.carried { () async throws(RecordStoreError) in
                    try await wait.value { if start > .zero { Issue.record("The work began too late.") } }
                }
                #expect(outcome.failure?.reason == .cancelled)
                let explanation = outcome.failure?.explanation ?? ""
                #expect(explanation.hasPrefix("The deadline passed before the store started the operation."))
                #expect(scheduler.clock.now.offset == .seconds(5))
                #expect(!wait.begin())
            }
        }
    }

    @Test func deadlineDoesNotEndWorkThatHasBegun() async throws {
        try await scheduler.run {
            let (wait, timer) = (Wait(), scheduler.timer)
            let outcome = await Deadline(in: .seconds(5), on: timer).carried { () async throws(RecordStoreError) in
                try await wait.value {
                    #expect(wait.begin())
                    timer.schedule(at: .seconds(9)) { wait.end(.success(7)) }
                }
            }
            #expect(outcome == .success(7))
        }
    }

    @Test func deadlineTimerIsCancelledAtTheEnd() async throws {
        let (wait, timer) = (Wait(), TimerService(ManualClock()))
        let outcome = await Deadline(in: .seconds(5), on: timer).carried { () async throws(RecordStoreError) in
            try await wait.value {
                #expect(timer.count == 1)
                wait.end(.success(7))
            }
        }
        #expect(outcome == .success(7))
        #expect(timer.count == 0)
    }
}
