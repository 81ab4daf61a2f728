import Foundation
import Infrastructure
import Testing

/// Each signal is raised once at most: behind that it would end the process of the tests.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct InterruptionsTests {
    @Test func whoReadsIsToldOfAnInterruptionThatComesAtOnce() async {
        let arriving = Interruptions.arriving()
        kill(getpid(), SIGTERM)
        var iterator = arriving.makeAsyncIterator()
        #expect(await iterator.next() != nil)
        // The next one ends the process as ever.
        #expect(isLeftToTheSystem(SIGTERM))
        #expect(!isLeftToTheSystem(SIGINT))
    }

    @Test func whenNobodyReadsAnyMoreInterruptionsAreLeftToTheSystem() async {
        await withTaskGroup { group in
            group.addTask {
                for await _ in Interruptions.arriving() {}
            }
            group.cancelAll()
        }
        #expect(isLeftToTheSystem(SIGINT))
        #expect(isLeftToTheSystem(SIGTERM))
        do { _ = Interruptions.arriving() }
        #expect(isLeftToTheSystem(SIGINT))
        #expect(isLeftToTheSystem(SIGTERM))
    }

    /// Whether a signal does what it does by default. It does so behind this.
    private func isLeftToTheSystem(_ number: Int32) -> Bool {
        signal(number, SIG_DFL) == nil
    }
}
