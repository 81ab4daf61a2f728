import InwardCommandLine
import LayerContract
import Testing

@testable import check_layers

struct ArgumentsTests {
    @Test func currentDirectoryIsCheckedByDefault() throws {
        let arguments = try Arguments([])
        #expect(arguments.packagePath == nil)
        #expect(arguments.diagram == nil)
        #expect(arguments.format == .text)
        #expect(!arguments.writes)
    }

    @Test func everyOptionIsParsed() throws {
        let arguments = try Arguments([
            "--package-path", "p", "--diagram=d=e", "--block", "b", "--format", "sarif", "--output", "o", "--baseline",
            "l",
            "--scratch-path", "s", "--help",
        ])
        #expect(arguments.packagePath == "p")
        #expect(arguments.diagram == "d=e")
        #expect(arguments.block == "b")
        #expect(arguments.format == .sarif)
        #expect(arguments.output == "o")
        #expect(arguments.baseline == "l")
        #expect(arguments.scratchPath == "s")
        #expect(arguments.asksForHelp)
        #expect(try Arguments(["--write"]).writes)
        #expect(try Arguments(["--record-baseline", "r"]).recordedBaseline == "r")
    }

    @Test(arguments: [
        (["--nonsense"], "there is no option --nonsense"), (["word"], "there is no option word"),
        (["--format"], "--format needs a value"), (["--format="], "--format needs a value"),
        (["--format", "xml"], "there is no format xml; the formats are text, json, sarif, github"),
        (["--write=yes"], "there is no option --write=yes"), (["--help=yes"], "there is no option --help=yes"),
        (["--", "word"], "there is no option word"),
        (["--block", "a", "--block=b"], "--block can be given only once"),
        (["--write", "--baseline", "b"], "only one of --baseline, --record-baseline and --write can be given"),
        (
            ["--record-baseline", "r", "--output", "o"],
            "--output and --format apply to a report, which --record-baseline and --write do not write"
        ),
        (
            ["--write", "--format", "json"],
            "--output and --format apply to a report, which --record-baseline and --write do not write"
        ),
    ])
    func invalidArgumentsAreErrors(words: [String], explanation: String) {
        #expect(throws: UsageError(explanation)) { try Arguments(words) }
    }
}
