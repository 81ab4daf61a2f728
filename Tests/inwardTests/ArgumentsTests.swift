import Testing

@testable import inward

struct ArgumentsTests {
    private func arguments(_ words: String...) throws(UsageError) -> Arguments {
        try Arguments(words)
    }

    @Test func withoutArgumentsNothingIsChosen() throws {
        let arguments = try arguments()
        #expect(arguments.upstream == nil)
        #expect(arguments.output == nil)
        #expect(!arguments.asksForHelp)
    }

    @Test func upstreamAndOutputStandInAnyOrder() throws {
        for words in [
            ["up", "--output", "out"], ["--output", "out", "up"], ["--output=out", "up"], ["up", "--output=out"],
        ] {
            let arguments = try Arguments(words)
            #expect(arguments.upstream == "up")
            #expect(arguments.output == "out")
        }
    }

    @Test func aNameThatLooksLikeAnOptionStandsBehindTwoDashes() throws {
        #expect(try arguments("--", "--output").upstream == "--output")
    }

    @Test(arguments: ["--help", "-h"])
    func helpIsAskedFor(word: String) throws {
        #expect(try arguments("up", word).asksForHelp)
    }

    @Test(arguments: [
        (["--output"], "--output wants a directory"), (["--output", ""], "--output wants a directory"),
        (["--output="], "--output wants a directory"), (["--output", "a", "--output=b"], "there can be one --output"),
        (["a", "b"], "there can be one upstream"), (["--verbose"], "there is no option --verbose"),
        (["-x"], "there is no option -x"),
    ])
    func whatDoesNotFitIsTold(words: [String], explanation: String) {
        #expect(throws: UsageError(explanation)) { try Arguments(words) }
    }
}
