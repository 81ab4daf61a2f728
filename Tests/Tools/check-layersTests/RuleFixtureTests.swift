import Testing

@testable import check_layers

/// Checks a package on disk that breaks each rule with one line, and passes without these lines.
struct RuleFixtureTests {
    struct Fixture: Sendable, CustomTestStringConvertible {
        let rule: String
        let file: String
        let line: Int
        let text: String
        let finding: String
        var testDescription: String { rule }
    }

    static let fixtures = [
        Fixture(
            rule: "targets-match-rings",
            file: "Package.swift",
            line: 30,
            text: "        .target(name: \"Stray\"),",
            finding: "Package.swift:30: Stray [targets-match-rings]"
        ),
        Fixture(
            rule: "dependencies-follow-edges",
            file: "Package.swift",
            line: 21,
            text: "                \"Core\",",
            finding: "Package.swift:21: App → Core [dependencies-follow-edges]"
        ),
        Fixture(
            rule: "imports-follow-edges",
            file: "Sources/Core/Users/User.swift",
            line: 2,
            text: "import Foundation",
            finding: "Sources/Core/Users/User.swift:2: Core → Foundation [imports-follow-edges]"
        ),
        Fixture(
            rule: "nothing-is-reexported",
            file: "Sources/Adapters/UserRow.swift",
            line: 1,
            text: "@_exported import Core",
            finding: "Sources/Adapters/UserRow.swift:1: Adapters → Core [nothing-is-reexported]"
        ),
        Fixture(
            rule: "testable-by-own-tests",
            file: "Tests/AdaptersTests/UserRowTests.swift",
            line: 1,
            text: "@testable import Core",
            finding: "Tests/AdaptersTests/UserRowTests.swift:1: AdaptersTests → Core [testable-by-own-tests]"
        ),
        Fixture(
            rule: "packages-are-named",
            file: "Package.swift",
            line: 10,
            text: "                .product(name: \"Wire\", package: \"Wires\"),",
            finding: "Package.swift:10: Core → Wires [packages-are-named]"
        ),
        Fixture(
            rule: "no-cycle-of-subjects",
            file: "Sources/Core/Users/User.swift",
            line: 2,
            text: "    var latest: Post? { nil }",
            finding: "Sources/Core/Posts/Post.swift:2: Core/Posts → Core/Users [no-cycle-of-subjects]"
        ),
        Fixture(
            rule: "build-settings-are-named",
            file: "Package.swift",
            line: 35,
            text: "package.targets[0].linkerSettings = [.linkedLibrary(\"curl\")]",
            finding: "Package.swift:7: Core → curl [build-settings-are-named]"
        ),
        Fixture(
            rule: "no-back-doors",
            file: "Sources/Core/Users/User.swift",
            line: 2,
            text: "    static func open() { _ = dlopen(nil, 0) }",
            finding: "Sources/Core/Users/User.swift:2: Core → dlopen [no-back-doors]"
        ),
        Fixture(
            rule: "member-imports-are-visible",
            file: "Package.swift",
            line: 35,
            text: "package.targets[0].swiftSettings = [.enableUpcomingFeature(\"ExistentialAny\")]",
            finding: "Package.swift:7: Core [member-imports-are-visible]"
        ),
        Fixture(
            rule: "diagram-is-used",
            file: "Architecture.md",
            line: 7,
            text: "    App --> Core",
            finding: "Architecture.md:7: App → Core [diagram-is-used]"
        ),
    ]

    @Test func fixturePassesWithoutTheLines() async throws {
        let answer = try await TemporaryPackage().check()
        #expect(answer.output == "No findings: 5 files, 5 imports, 4 targets, 2 edges.\n")
        #expect(answer.exitCode == .success)
    }

    // A sample has a rule for the manifest, one for imports, and one for what a source contains.
    @Test(arguments: MutationTests.areAllWanted ? fixtures : [fixtures[0], fixtures[3], fixtures[8]])
    func oneLineBreaksOneRule(fixture: Fixture) async throws {
        let package = try TemporaryPackage()
        try package.insert(fixture.text, at: fixture.line, of: fixture.file)
        let answer = await package.check()
        let headlines = answer.output.split(separator: "\n").filter { $0.hasSuffix("]") }
        #expect(headlines == [fixture.finding[...]], "\(answer.output)\(answer.errors)")
        #expect(answer.exitCode == .findings)
    }
}
