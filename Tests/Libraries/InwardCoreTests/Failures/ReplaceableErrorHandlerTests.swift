import InwardCore
import InwardTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ReplaceableErrorHandlerTests {
    @Test func replacedHandlerIsReturnedWithoutBeingClosed() async {
        let old = RecordingErrorHandler()
        let new = RecordingErrorHandler()
        let handler = ReplaceableErrorHandler(old)
        handler.handle(ExampleError(1))
        let replaced = handler.replace(with: new)
        handler.handle(ExampleError(2))
        #expect(replaced as? RecordingErrorHandler === old)
        #expect(old.errors as? [ExampleError] == [ExampleError(1)])
        #expect(new.errors as? [ExampleError] == [ExampleError(2)])
        #expect(!old.isClosed)
        await handler.close()
        #expect(new.isClosed)
        #expect(!old.isClosed)
    }

    @Test func eachErrorReachesOneHandlerDuringReplacements() async {
        let handler = ReplaceableErrorHandler(RecordingErrorHandler())
        // Created before the tasks, because the thread sanitizer does not see that the lock publishes a new handler.
        let replacements = (0..<100).map { _ in RecordingErrorHandler() }
        let replaced = await withTaskGroup { group in
            for sender in 0..<8 {
                group.addTask {
                    for number in 0..<250 { handler.handle(ExampleError(sender * 250 + number)) }
                    return [any ErrorHandler]()
                }
            }
            group.addTask {
                var replaced: [any ErrorHandler] = []
                for replacement in replacements {
                    replaced.append(handler.replace(with: replacement))
                    await Task.yield()
                }
                return replaced
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        let recorders = (replaced + [handler.replace(with: IgnoringErrorHandler())])
            .compactMap { $0 as? RecordingErrorHandler }
        #expect(recorders.count == 101)
        let numbers = recorders.flatMap(\.errors).compactMap { Int("\($0)") }
        #expect(numbers.sorted() == Array(0..<2_000))
    }

    @Test func handlerMayReplaceItselfDuringACall() {
        let recorder = RecordingErrorHandler()
        let handler = ReplaceableErrorHandler(IgnoringErrorHandler())
        _ = handler.replace(
            with: JournalingErrorHandler(journal: Journal()) { error in
                _ = handler.replace(with: recorder)
                handler.handle(error)
            }
        )
        handler.handle(ExampleError("a"))
        #expect(recorder.errors as? [ExampleError] == [ExampleError("a")])
    }
}
