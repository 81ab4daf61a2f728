import Foundation
import Infrastructure
import Testing

/// Each signal is raised at most once, because a second one would terminate the test process.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct InterruptionsTests {
    @Test func immediateInterruptionIsReported() async {
        let arriving = Interruptions.arriving()
        kill(getpid(), SIGTERM)
        var iterator = arriving.makeAsyncIterator()
        #expect(await iterator.next() != nil)
        // The next one would terminate the process.
        #expect(hasDefaultAction(SIGTERM))
        #expect(!hasDefaultAction(SIGINT))
    }

    @Test func defaultSignalHandlingReturnsWhenReadingStops() async {
        await withTaskGroup { group in
            group.addTask {
                for await _ in Interruptions.arriving() {}
            }
            group.cancelAll()
        }
        #expect(hasDefaultAction(SIGINT))
        #expect(hasDefaultAction(SIGTERM))
        do { _ = Interruptions.arriving() }
        #expect(hasDefaultAction(SIGINT))
        #expect(hasDefaultAction(SIGTERM))
    }

    /// Returns whether a signal has its default action, and restores the default action.
    private func hasDefaultAction(_ number: Int32) -> Bool {
        signal(number, SIG_DFL) == nil
    }
}
