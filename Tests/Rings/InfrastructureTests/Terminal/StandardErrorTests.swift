import Infrastructure
import Synchronization
import Testing

struct StandardErrorTests {
    /// Returns the texts that a closure writes to a standard error.
    private func written(isTerminal: Bool, _ use: (StandardError) -> Void) -> [String] {
        let texts = Texts()
        use(StandardError(isTerminal: isTerminal) { text in texts.append(text) })
        return texts.all
    }

    private final class Texts: Sendable {
        private let texts = Mutex<[String]>([])
        var all: [String] { texts.withLock(\.self) }
        func append(_ text: String) { texts.withLock { $0.append(text) } }
    }

    @Test func progressIsOneChangingLineOnATerminal() {
        let texts = written(isTerminal: true) { error in
            error.showProgress("one")
            error.showProgress("two")
            error.clearProgress()
        }
        #expect(texts == ["\r\u{1B}[2Kone", "\r\u{1B}[2Ktwo", "\r\u{1B}[2K"])
    }

    @Test func progressIsPlainLinesWithoutATerminal() {
        let texts = written(isTerminal: false) { error in
            error.showProgress("one")
            error.clearProgress()
            error.writeLine("two")
        }
        #expect(texts == ["one\n", "two\n"])
    }

    @Test(arguments: [true, false])
    func controlCharactersAreShownInsteadOfSent(isTerminal: Bool) {
        let texts = written(isTerminal: isTerminal) { error in
            error.showProgress("a\u{1B}[31m\n")
            error.writeLine("b\u{1B}[31m\n")
        }
        #expect(texts.first?.hasSuffix(#"a\u{1B}[31m\n"# + (isTerminal ? "" : "\n")) == true)
        #expect(texts.last == #"b\u{1B}[31m\n"# + "\n")
    }

    @Test func progressUpdatesAreShownOnlyOnATerminal() {
        for isTerminal in [true, false] {
            let texts = Texts()
            StandardError(isTerminal: isTerminal) { texts.append($0) }.updateProgress("half")
            #expect(texts.all == (isTerminal ? ["\r\u{1B}[2Khalf"] : []))
        }
    }
}
