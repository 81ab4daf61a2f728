import InwardTesting
import Testing

struct RecordingErrorHandlerTests {
    private enum Example: Error { case first, second }

    @Test func errorsAndClosingAreRecorded() async {
        let handler = RecordingErrorHandler()
        handler.handle(Example.first)
        #expect(!handler.isClosed)
        await handler.close()
        #expect(handler.isClosed)
        handler.handle(Example.second)
        #expect(handler.errors as? [Example] == [.first, .second])
        #expect(handler.description == "records")
    }
}
