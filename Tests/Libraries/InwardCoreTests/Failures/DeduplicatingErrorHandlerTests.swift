import InwardCore
import InwardTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct DeduplicatingErrorHandlerTests {
    private let clock = ManualClock()
    private let journal = Journal()

    @Test func repeatsAreDroppedDuringTheWindowAndThenCounted() {
        let handler = JournalingErrorHandler(journal: journal).droppingRepeats(within: .seconds(10), clock: clock)
        for _ in 0..<42 { handler.handle(ExampleError("a")) }
        clock.advance(by: .seconds(9))
        handler.handle(ExampleError("b"))
        #expect(journal.entries == ["base: a", "base: b"])
        clock.advance(by: .seconds(1))
        handler.handle(ExampleError("b"))
        #expect(journal.entries.dropFirst(2) == ["base: a (and 41 times more within 10.0 seconds)"])
        handler.handle(ExampleError("a"))
        #expect(journal.entries.dropFirst(3) == ["base: a"])
    }

    @Test func droppedRepeatsAreReportedBeforeTheWrappedHandlerCloses() async {
        let handler = JournalingErrorHandler(journal: journal).droppingRepeats(within: .seconds(10), clock: clock)
        for _ in 0..<3 { handler.handle(ExampleError("a")) }
        await handler.close()
        #expect(journal.entries == ["base: a", "base: a (and 2 times more within 10.0 seconds)", "base is closed"])
        await handler.close()
        #expect(journal.entries.dropFirst(3) == ["base is closed"])
    }

    @Test func capacityLimitsTheRememberedKinds() async {
        let base = RecordingErrorHandler()
        let handler = base.droppingRepeats(within: .seconds(10), clock: clock, capacity: 2)
        for name in ["a", "b", "a", "c", "b", "a"] { handler.handle(ExampleError(name)) }
        #expect(
            base.errors.map { "\($0)" } == ["a", "b", "a (and once more within 10.0 seconds)", "c"]
                + ["b (and once more within 10.0 seconds)", "a"]
        )
    }

    @Test func oneThousandKindsAreRememberedByDefault() {
        let base = RecordingErrorHandler()
        let handler = base.droppingRepeats(within: .seconds(10), clock: clock)
        for number in 0..<1_000 { handler.handle(ExampleError(number)) }
        handler.handle(ExampleError(0))
        #expect(base.errors.count == 1_000)
        handler.handle(ExampleError(1_000))
        handler.handle(ExampleError(0))
        #expect(base.errors.count == 1_003)
    }

    @Test func wrappedHandlerMayCallBack() {
        let handler = ReplaceableErrorHandler(IgnoringErrorHandler())
        let base = JournalingErrorHandler(journal: journal) { handler.handle($0) }
        _ = handler.replace(with: base.droppingRepeats(within: .seconds(10), clock: clock))
        handler.handle(ExampleError("a"))
        #expect(journal.entries == ["base: a"])
    }

    @Test func concurrentErrorsAreAllReportedOrCounted() async {
        let base = RecordingErrorHandler()
        let handler = base.droppingRepeats(within: .seconds(1), clock: clock, capacity: 3)
        await withTaskGroup { group in
            for sender in 0..<8 {
                group.addTask {
                    for number in 0..<250 {
                        handler.handle(ExampleError((sender + number) % 5))
                        if number.isMultiple(of: 10) { clock.advance(by: .milliseconds(100)) }
                    }
                }
            }
        }
        await handler.close()
        let repeats = base.errors.compactMap { ($0 as? RepeatedError)?.repeats }.reduce(0, +)
        #expect(base.errors.count { $0 is ExampleError } + repeats == 2_000)
    }
}
