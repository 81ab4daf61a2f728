#if AsyncHTTPClient && Observability && PostgreSQL && ServiceLifecycle && SQLite && Vips
import Foundation
import Testing

/// The checks of `DocumentationTests` for the modules of traits, in a build with all traits.
struct TraitDocumentationTests {
    /// The options with which SwiftPM finds the packages' C modules, read from its build plan next to the products.
    private static func options() throws -> [String] {
        let products = Snippet.products
        let plan = products.appending(path: "../../\(products.lastPathComponent).yaml").standardized
        let text = try String(contentsOf: plan, encoding: .utf8)
        let maps = Set(text.matches(of: #/"-Xcc","(-fmodule-map-file=[^"]*)"/#).map { String($0.1) })
        let headers = Set(text.matches(of: #/"-Xcc","-I","-Xcc","([^"]*)"/#).map { "-I\($0.1)" })
        let installed = Set(text.matches(of: #/"(-I/usr/[^"]*)"/#).map { String($0.1) })
        return (maps.sorted() + headers.sorted() + installed.sorted()).flatMap { ["-Xcc", $0] }
    }

    @Test(.timeLimit(.minutes(5)), arguments: Documentation.traitModules.sorted())
    func everySwiftBlockCompiles(module: String) async throws {
        var documentation = Documentation()
        try documentation.addModule(in: "Sources/Integrations/\(module)")
        let errors = try await documentation.errors(Self.options())
        #expect(errors == [], "\(errors.joined(separator: "\n"))")
        #expect(documentation.counts[module, default: 0] >= 2)
        #expect(documentation.malformed == [])
    }
}
#endif
