import InwardCommandLine
import Testing

@testable import scaffold_subject

struct ArgumentsTests {
    @Test func nameAndOptionsMayBeInAnyOrder() throws {
        for words in [
            [
                "Child", "--plural", "Children", "--package-path", "x", "--target-list", "y", "--target", "entities=A",
                "--target", "use-cases=B",
            ],
            [
                "--target=use-cases=B", "--plural=Children", "--package-path=x", "Child", "--target-list=y",
                "--target=entities=A",
            ],
        ] {
            let arguments = try Arguments(words)
            #expect(arguments.name == "Child")
            #expect(arguments.plural == "Children")
            #expect(arguments.packagePath == "x")
            #expect(arguments.targetList == "y")
            #expect(arguments.targets == [.entities: "A", .useCases: "B"])
            #expect(!arguments.asksForHelp)
        }
    }

    @Test(arguments: ["--help", "-h"])
    func helpIsRequested(word: String) throws {
        #expect(try Arguments([word]).asksForHelp)
    }

    @Test(arguments: TargetRole.allCases)
    func usageNamesEveryRoleAndItsDefault(role: TargetRole) {
        #expect(Arguments.usage.contains("\n\(role.rawValue) "))
        #expect(Arguments.usage.contains(" \(role.defaultName) "))
    }

    @Test(arguments: [
        (["A", "B"], "only one name is allowed, but “B” is a second one"),
        (["--verbose"], "there is no option --verbose"),
        (["--plural"], "--plural needs a value"), (["--plural="], "--plural needs a value"),
        (["--help=yes"], "there is no option --help=yes"), (["--target"], "--target needs ROLE=NAME"),
        (["--package-path", ""], "--package-path needs a value"),
        (["--plural=A", "--plural=B"], "--plural can be given only once"),
        (["--package-path=a", "--package-path", "b"], "--package-path can be given only once"),
        (["--target", "entities"], "--target needs ROLE=NAME, not “entities”"),
        (["--target", "entities="], "--target needs ROLE=NAME, not “entities=”"),
        (["--target=entities=A", "--target=entities=B"], "--target entities can be given only once"),
        (
            ["--target=rings=A"],
            "there is no role “rings”; the roles are entities, use-cases, adapters, composition, doubles"
        ),
    ])
    func invalidArgumentsAreExplained(words: [String], explanation: String) {
        #expect(throws: UsageError(explanation)) { try Arguments(words) }
    }
}
