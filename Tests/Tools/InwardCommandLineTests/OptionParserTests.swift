import InwardCommandLine
import Testing

struct OptionParserTests {
    /// A parser whose current argument is the first of the words.
    private func parser(_ words: String...) -> OptionParser {
        var parser = OptionParser(words)
        _ = parser.next()
        return parser
    }

    private func arguments(_ words: String...) -> [OptionParser.Argument] {
        var parser = OptionParser(words)
        var arguments: [OptionParser.Argument] = []
        while let argument = parser.next() { arguments.append(argument) }
        return arguments
    }

    @Test func parserWithoutArgumentsReturnsNothing() {
        #expect(arguments() == [])
    }

    @Test func optionsBeginWithADash() {
        #expect(
            arguments("--long", "word", "-s", "-", "")
                == [
                    .option("--long", inlineValue: nil), .positional("word"), .option("-s", inlineValue: nil),
                    .option("-", inlineValue: nil), .positional(""),
                ]
        )
    }

    @Test func firstEqualsSignSeparatesAnOptionFromItsValue() {
        #expect(
            arguments("--a=b=c", "--a=", "a=b")
                == [.option("--a", inlineValue: "b=c"), .option("--a", inlineValue: ""), .positional("a=b")]
        )
    }

    @Test func everyArgumentAfterTwoDashesIsPositional() {
        #expect(arguments("--") == [])
        #expect(
            arguments("--a", "--", "--b=c", "--", "d")
                == [.option("--a", inlineValue: nil), .positional("--b=c"), .positional("--"), .positional("d")]
        )
    }

    @Test func inlineValueLeavesTheNextArgument() throws {
        var parser = parser("--a=b", "c")
        #expect(try parser.value() == "b")
        #expect(parser.next() == .positional("c"))
        #expect(parser.next() == nil)
    }

    @Test(arguments: ["b", "--b", "-1", "--", "b=c"])
    func nextArgumentIsTheValueOfAnOptionWithoutAnInlineValue(word: String) throws {
        var parser = parser("--a", word, "--c")
        #expect(try parser.value() == word)
        #expect(parser.next() == .option("--c", inlineValue: nil))
    }

    @Test func valueThatIsNotTakenIsTheNextArgument() {
        #expect(arguments("--a", "b") == [.option("--a", inlineValue: nil), .positional("b")])
    }

    @Test(arguments: [["--a"], ["--a", ""], ["--a="], ["--a=", "b"]])
    func missingOrEmptyValueIsAnError(words: [String]) {
        var parser = OptionParser(words)
        _ = parser.next()
        var copy = parser
        #expect(throws: UsageError("--a needs a value")) { try parser.value() }
        #expect(throws: UsageError("--a needs a directory")) { try copy.value("a directory") }
    }

    @Test func valueIsConverted() throws {
        var parser = parser("--a", "7")
        #expect(try parser.value("a number") { Int($0) } == 7)
    }

    @Test(arguments: [["--a"], ["--a", ""], ["--a=b"], ["--a", "7.5"]])
    func valueThatCannotBeConvertedIsAnError(words: [String]) {
        var parser = OptionParser(words)
        _ = parser.next()
        #expect(throws: UsageError("--a needs a number")) { try parser.value("a number") { Int($0) } }
    }

    @Test(arguments: ["--a", "--a=c"])
    func optionWithAValueCannotBeRepeated(word: String) throws {
        var parser = parser("--a=b", word)
        _ = try parser.value()
        _ = parser.next()
        var copy = parser
        #expect(throws: UsageError("--a can be given only once")) { try parser.value() }
        #expect(throws: UsageError("--a can be given only once")) { try copy.value("a letter") { $0.first } }
    }

    @Test func optionCanAllowRepetition() throws {
        var parser = parser("--a=b", "--a", "7")
        #expect(try parser.value(canRepeat: true) == "b")
        _ = parser.next()
        #expect(try parser.value("a number", canRepeat: true) { Int($0) } == 7)
    }

    @Test func differentOptionsCanEachHaveAValue() throws {
        var parser = parser("--a=b", "--c=d")
        #expect(try parser.value() == "b")
        _ = parser.next()
        #expect(try parser.value() == "d")
    }

    @Test(arguments: ["--nonsense", "--nonsense=x", "-x", "word"])
    func unknownOptionErrorContainsTheWholeArgument(word: String) {
        #expect(parser(word, "--b").unknownOption == UsageError("there is no option \(word)"))
    }

    @Test func takingAValueWithoutAnOptionTraps() async {
        await #expect(processExitsWith: .failure) {
            // A parser that forgot to reset its option after a positional argument would return the value.
            var parser = OptionParser(["--a", "word", "value"])
            _ = parser.next()
            _ = parser.next()
            // An error must not end the process as a trap does.
            _ = try? parser.value()
        }
    }
}
