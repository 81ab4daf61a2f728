import Foundation
import Testing

/// What the documentation shows of Swift compiles.
@Suite(.enabled(if: Snippet.canBeCompiled))
struct DocumentationTests {
    private static let prelude = """
        import Composition
        import Entities
        import InterfaceAdapters
        import InwardTesting
        import UseCases

        """

    private static let catalog = URL(filePath: #filePath).appending(
        path: "../../../../Sources/Composition/Composition.docc"
    )
    .standardized

    @Test(arguments: [("Composition.md", 4), ("Injecting.md", 9)])
    func itsSnippetsCompile(article: String, count: Int) async throws {
        let text = try String(contentsOf: Self.catalog.appending(path: article), encoding: .utf8)
        let snippets = text.split(separator: "```swift\n").dropFirst().compactMap { $0.split(separator: "```").first }
        #expect(snippets.count >= count)
        for snippet in snippets {
            #expect(try await Snippet(source: Self.prelude + snippet).errors() == [], "\(snippet)")
        }
    }
}
