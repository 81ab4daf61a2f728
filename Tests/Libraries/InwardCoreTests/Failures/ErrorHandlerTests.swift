import InwardCore
import InwardTesting
import InwardTransfers
import TestSupport
import Testing

struct ErrorHandlerTests {
    private struct OtherError: Error, CustomStringConvertible {
        let description = "other"
    }

    private let journal = Journal()

    @Test func outermostHandlerReceivesAnErrorFirst() {
        let handler = JournalingErrorHandler(journal: journal)
            .notifying { [journal] in journal.add("first notified: \($0)") }
            .logging { [journal] in journal.add("written: \($0)") }
            .notifying { [journal] in journal.add("last notified: \($0)") }
        handler.handle(ExampleError("a"))
        #expect(journal.entries == ["last notified: a", "written: a", "first notified: a", "base: a"])
    }

    @Test func descriptionShowsTheWholeChain() {
        let clock = ManualClock()
        let handler = IgnoringErrorHandler()
            .reporting(through: RecordingDataSaver())
            .logging { _ in }
            .routing(OtherError.self, to: IgnoringErrorHandler().notifying { _ in })
            .droppingRepeats(within: .seconds(10), clock: clock)
        #expect(
            ReplaceableErrorHandler(handler).description == """
                can be replaced → drops repeats within 10.0 seconds → routes OtherError to (notifies → ends) → logs → \
                reports in batches of 100 → ends
                """
        )
    }

    @Test func closingAHandlerClosesTheWrappedOne() async {
        await JournalingErrorHandler(journal: journal, name: "written").logging { _ in }.close()
        await JournalingErrorHandler(journal: journal, name: "noted").notifying { _ in }.close()
        await JournalingErrorHandler(journal: journal, name: "reported").reporting(through: RecordingDataSaver())
            .close()
        await JournalingErrorHandler(journal: journal, name: "counted")
            .droppingRepeats(within: .seconds(1), clock: ManualClock()).close()
        await ReplaceableErrorHandler(JournalingErrorHandler(journal: journal, name: "replaced")).close()
        #expect(journal.entries == ["written", "noted", "reported", "counted", "replaced"].map { "\($0) is closed" })
    }

    @Test func ignoringHandlerDoesNothing() async {
        let handler = IgnoringErrorHandler()
        handler.handle(ExampleError("a"))
        await handler.close()
        #expect(handler.description == "ends")
    }

    @Test func errorIsLoggedAsOneHarmlessLine() {
        let handler = IgnoringErrorHandler().logging { [journal] in journal.add($0) }
        handler.handle(ExampleError("one\r\ntwo\u{1B}[2J\u{202E}\u{2028}\u{85} “drei” \u{1F600}é"))
        handler.handle(ExampleError("a\u{200B}b\u{AD}c\u{E0041}d"))
        #expect(
            journal.entries == [
                #"one\r\ntwo\u{1B}[2J\u{202E}\u{2028}\u{85} “drei” 😀é"#, #"a\u{200B}b\u{AD}c\u{E0041}d"#,
            ]
        )
    }

    @Test func routedErrorDoesNotReachTheWrappedHandler() async {
        let base = JournalingErrorHandler(journal: journal)
        let handler = base.routing(OtherError.self, to: JournalingErrorHandler(journal: journal, name: "elsewhere"))
        handler.handle(ExampleError("a"))
        handler.handle(OtherError())
        #expect(journal.entries == ["base: a", "elsewhere: other"])
        await handler.close()
        #expect(journal.entries.suffix(2) == ["elsewhere is closed", "base is closed"])
    }

    @Test func dataSaverErrorIsASentence() {
        let error = DataSaverError(destination: "POST http://collector.test/", explanation: "was answered with 503")
        #expect(error.description == "POST http://collector.test/ was answered with 503")
    }
}
