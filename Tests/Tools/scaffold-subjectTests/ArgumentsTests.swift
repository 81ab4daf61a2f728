import Testing

@testable import scaffold_subject

struct ArgumentsTests {
    @Test func aNameAndItsOptionsStandInAnyOrder() throws {
        for words in [
            ["Child", "--plural", "Children", "--package-path", "x"],
            ["--plural=Children", "--package-path=x", "Child"],
        ] {
            let arguments = try Arguments(words)
            #expect(arguments.name == "Child")
            #expect(arguments.plural == "Children")
            #expect(arguments.packagePath == "x")
            #expect(!arguments.asksForHelp)
        }
    }

    @Test(arguments: ["--help", "-h"])
    func helpIsAskedFor(word: String) throws {
        #expect(try Arguments([word]).asksForHelp)
    }

    @Test(arguments: [
        (["A", "B"], "there can be one name"), (["--verbose"], "there is no option --verbose"),
        (["--plural"], "--plural wants a value"), (["--plural="], "--plural wants a value"),
        (["--package-path", ""], "--package-path wants a value"),
        (["--plural=A", "--plural=B"], "there can be one --plural"),
        (["--package-path=a", "--package-path", "b"], "there can be one --package-path"),
    ])
    func whatDoesNotFitIsTold(words: [String], explanation: String) {
        #expect(throws: UsageError(explanation)) { try Arguments(words) }
    }
}
