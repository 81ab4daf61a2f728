import Infrastructure
import Synchronization
import TestSupport
import Testing

struct StandardOutputTests {
    private struct ExampleError: Error {}

    /// Returns the text that a closure writes to a standard output.
    private func written(isTerminal: Bool, _ use: (StandardOutput) throws -> Void) rethrows -> String {
        let texts = Texts()
        try use(StandardOutput(isTerminal: isTerminal) { text in texts.append(text) })
        return texts.all
    }

    private final class Texts: Sendable {
        private let text = Mutex("")
        var all: String { text.withLock(\.self) }
        func append(_ other: String) { text.withLock { $0 += other } }
    }

    @Test func textIsWrittenUnchanged() throws {
        #expect(try written(isTerminal: true) { try $0.print("a\n\u{1B}b") } == "a\n\u{1B}b")
        #expect(try written(isTerminal: false) { try $0.print("a\nb\n") } == "a\nb\n")
    }

    @Test func redrawReplacesTheTextOnATerminal() throws {
        let text = try written(isTerminal: true) { output in
            try output.redraw("One\nTwo\n\nThree\n")
            try output.redraw("1\n")
        }
        #expect(
            text == "\u{1B}[HOne\u{1B}[K\nTwo\u{1B}[K\n\u{1B}[K\nThree\u{1B}[K\n\u{1B}[J"
                + "\u{1B}[H1\u{1B}[K\n\u{1B}[J"
        )
    }

    @Test func redrawClearsThePreviousTextOnATerminal() throws {
        #expect(try written(isTerminal: true) { try $0.redraw("") } == "\u{1B}[H\u{1B}[J")
        #expect(try written(isTerminal: true) { try $0.redraw("a") } == "\u{1B}[Ha\u{1B}[J")
    }

    @Test func redrawAppendsAndSeparatesTextsWithoutATerminal() throws {
        let text = try written(isTerminal: false) { output in
            try output.redraw("One\nTwo\n")
            try output.redraw("1\n")
        }
        #expect(text == "One\nTwo\n\n1\n\n")
    }

    @Test(arguments: [true, false])
    func failedWriteIsAnError(isTerminal: Bool) {
        let output = StandardOutput(isTerminal: isTerminal) { _ in throw ExampleError() }
        #expect(output.isTerminal == isTerminal)
        for use in [output.print, output.redraw] {
            let error = #expect(throws: StandardOutputError.self) { try use("x") }
            #expect(error?.description.hasPrefix("The output cannot be written: ") == true)
        }
    }
}
