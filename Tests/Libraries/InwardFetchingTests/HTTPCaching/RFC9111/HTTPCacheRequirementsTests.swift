import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The table of requirements in the documentation names the tests that exist.
struct HTTPCacheRequirementsTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    /// The page, which is in the sources.
    private static var page: String {
        get throws {
            var package = folder
            for _ in 0..<5 { package.deleteLastPathComponent() }
            let path = "Sources/Libraries/InwardFetching/InwardFetching.docc/HTTPCacheRequirements.md"
            return String(decoding: try Data(contentsOf: package.appending(path: path)), as: UTF8.self)
        }
    }

    /// The tests in the files of this folder, such as `RFC9111Section2Tests.variantsOfOneURLAreStoredSideBySide`.
    private static var tests: Set<String> {
        get throws {
            var tests: Set<String> = []
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasPrefix("RFC") {
                let source = String(decoding: try Data(contentsOf: folder.appending(path: name)), as: UTF8.self)
                let suite = name.split(separator: ".")[0]
                for part in source.split(separator: "@Test").dropFirst() {
                    let function = part.split(separator: "func ", maxSplits: 1).dropFirst().first?.prefix { $0 != "(" }
                    tests.insert("\(suite).\(function ?? "")")
                }
            }
            return tests
        }
    }

    @Test func everyTestInTheTableExistsAndEveryTestIsInTheTable() throws {
        let quoted = try Self.page.split(separator: "`").filter { $0.hasPrefix("RFC") && $0.contains("Tests.") }
        let named = Set(quoted.map(String.init))
        let tests = try Self.tests
        #expect(tests.count > 100)
        #expect(named.subtracting(tests).isEmpty)
        #expect(tests.subtracting(named).isEmpty)
    }
}
