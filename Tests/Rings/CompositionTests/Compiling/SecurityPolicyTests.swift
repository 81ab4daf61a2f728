import Foundation
import Testing

/// Each promise of the threat model names an existing test.
struct SecurityPolicyTests {
    private static let package = URL(filePath: #filePath).appending(path: "../../../../..").standardized

    /// Returns the tests in the files of the package that a condition selects by name, such as `FooTests.bar`.
    private static func tests(inFiles isWanted: (String) -> Bool) throws -> Set<String> {
        let folder = package.appending(path: "Tests")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path(percentEncoded: false))
        var tests: Set<String> = []
        for path in paths where path.hasSuffix("Tests.swift") && isWanted(URL(filePath: path).lastPathComponent) {
            let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
            let suites = text.matches(of: /(?:struct|class|extension) (\w+Tests)\b/).map(\.1)
            // The arguments of `@Test` may span lines, so take the first function after it.
            let names = text.split(separator: "@Test").dropFirst().compactMap { $0.firstMatch(of: /func (\w+)/)?.1 }
            for suite in suites { tests.formUnion(names.map { "\(suite).\($0)" }) }
        }
        return tests
    }

    @Test func namedTestsExist() throws {
        let text = try String(contentsOf: Self.package.appending(path: "SECURITY.md"), encoding: .utf8)
        let named = Set(text.matches(of: /`(\w+Tests\.\w+)`/).map { String($0.1) })
        #expect(named.count >= 40)
        // Most suites are in files with their names. Reading all files takes long.
        let files = Set(named.map { name in String(name.prefix { $0 != "." }) + ".swift" })
        var missing = try named.subtracting(Self.tests { files.contains($0) })
        if !missing.isEmpty { missing = try missing.subtracting(Self.tests { !files.contains($0) }) }
        #expect(missing.sorted() == [])
    }

    @Test func everyPromiseNamesATest() throws {
        let text = try String(contentsOf: Self.package.appending(path: "SECURITY.md"), encoding: .utf8)
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| promise") }
        #expect(rows.count >= 25)
        #expect(rows.filter { !$0.contains(/`\w+Tests\.\w+`/) } == [])
    }

    @Test func readmeLinksToTheSecurityPolicy() throws {
        let text = try String(contentsOf: Self.package.appending(path: "README.md"), encoding: .utf8)
        #expect(text.contains("(SECURITY.md)"))
    }
}
