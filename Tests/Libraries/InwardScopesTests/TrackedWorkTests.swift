import InwardCore
import Testing

@testable import InwardScopes

@Suite(.timeLimit(.minutes(5)))
struct TrackedWorkTests {
    @Test func workThatWasCancelledBeforeItsTaskWasKnownIsCancelled() async {
        let work = TrackedWork()
        work.cancel()
        let task = Task { await Promise<Void>().value(until: nil) }
        #expect(work.cancels(task))
        guard case .cancelled = await task.value else {
            Issue.record("The task was not cancelled.")
            return
        }
    }

    @Test func workWithAResultNeedsNoCancellation() {
        let work = TrackedWork()
        work.noteEnd()
        let needsCancellation = work.cancels(Task {})
        #expect(!needsCancellation)
    }

    @Test func waitEndsWhenTheWorkIsFinished() async {
        let work = TrackedWork()
        async let wait: Void = work.end()
        work.noteEnd()
        work.finish()
        await wait
        // Also if it was finished before.
        await work.end()
    }
}
