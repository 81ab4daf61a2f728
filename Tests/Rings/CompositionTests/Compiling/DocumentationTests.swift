import Foundation
import Testing

/// Every Swift block in the documents and documentation comments compiles against the modules of the package.
@Suite(.enabled(if: Snippet.canBeCompiled))
struct DocumentationTests {
    private static func modules() throws -> [String] {
        let sources = Documentation.package.appending(path: "Sources").path(percentEncoded: false)
        return try FileManager.default.subpathsOfDirectory(atPath: sources)
            .filter { $0.hasSuffix(".docc") && $0.split(separator: "/").count == 3 }
            .map { "Sources/" + $0.split(separator: "/").dropLast().joined(separator: "/") }
            .sorted()
    }

    /// The documentation of the package, which is read once.
    private static let all = Result {
        var documentation = Documentation()
        try documentation.addPages(in: "")
        try documentation.addPages(in: "Decisions")
        try documentation.addPages(in: "Examples")
        for folder in try modules() where !Documentation.traitModules.contains(where: folder.hasSuffix) {
            try documentation.addModule(in: folder)
        }
        return documentation
    }

    private static func documentation() throws -> Documentation { try all.get() }

    @Test func everySwiftBlockCompiles() async throws {
        let documentation = try Self.documentation()
        let errors = try await documentation.errors()
        #expect(errors == [], "\(errors.joined(separator: "\n"))")
        // Without these, a search that finds nothing would pass.
        #expect(documentation.programs.count >= 100)
        #expect(documentation.counts.values.reduce(0, +) >= 600)
        #expect(documentation.counts.filter { $0.key.hasPrefix("Inward") && $0.value < 9 } == [:])
    }

    @Test func everyQuotationMatchesItsFile() throws {
        let quotations = try Self.documentation().quotations
        #expect(!quotations.isEmpty)
        for quotation in quotations {
            let path = try #require(quotation.quotedPath)
            let file = try String(contentsOf: Documentation.package.appending(path: path), encoding: .utf8)
            // Without comments and empty lines, which a quotation may omit silently.
            let lines = file.split(separator: "\n").map { $0.trimmingPrefix(while: \.isWhitespace) }
                .filter { !$0.isEmpty && !$0.hasPrefix("//") }
            var next = 0
            var omits = true
            let quoted = quotation.lines.dropFirst().map { $0.trimmingPrefix(while: \.isWhitespace) }
            for line in quoted where !line.isEmpty {
                if line == "…" {
                    omits = true
                    continue
                }
                guard let index = lines[next...].firstIndex(of: line), omits || index == next else {
                    Issue.record("\(quotation.path):\(quotation.line): \(path) has no line '\(line)' there.")
                    break
                }
                (next, omits) = (index + 1, false)
            }
        }
    }

    @Test func everyManifestCompiles() async throws {
        // The manifest API is next to the compiler: `usr/bin/swiftc`, `usr/lib/swift/pm/ManifestAPI`.
        let search = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let compiler = try #require(
            search.map { URL(filePath: "\($0)/swiftc") }.first {
                FileManager.default.isExecutableFile(atPath: $0.path(percentEncoded: false))
            }
        )
        let api = compiler.resolvingSymlinksInPath().appending(path: "../../lib/swift/pm/ManifestAPI").standardized
        let manifests = try Self.documentation().manifests
        #expect(!manifests.isEmpty)
        // Together, each in a scope of its own: the compiler takes longer to start than to check a manifest.
        let scopes = manifests.map { "do {\n\($0.located)}\n" }.joined()
        var snippet = Snippet(source: "import PackageDescription\n\(scopes)")
        snippet.options = ["-I", api.path(percentEncoded: false), "-package-description-version", "6.2.0"]
        #expect(try await snippet.errors() == [])
    }

    @Test func codeInDocumentationCommentsNamesItsLanguage() throws {
        #expect(try Self.documentation().malformed == [])
    }

    @Test func everyLibraryBeginsWithAnExampleAndHasAGettingStartedArticle() throws {
        for folder in try Self.modules()
        where folder.hasPrefix("Sources/Libraries") || folder.hasPrefix("Sources/Integrations") {
            let module = String(folder.split(separator: "/").last ?? "")
            let catalog = Documentation.package.appending(path: "\(folder)/\(module).docc")
            let page = try String(contentsOf: catalog.appending(path: "\(module).md"), encoding: .utf8)
            let beginning = page.split(separator: "\n").prefix(8)
            #expect(beginning.contains("```swift"), "\(module)")
            let start = try String(contentsOf: catalog.appending(path: "GettingStarted.md"), encoding: .utf8)
            #expect(start.contains("```swift"), "\(module)")
            #expect(page.contains("<doc:GettingStarted>"), "\(module)")
        }
    }

    @Test(arguments: ["", "Decisions"])
    func everyLinkBetweenPagesLeadsToAFileAndAHeading(folder: String) throws {
        let directory = Documentation.package.appending(path: folder).standardized
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path(percentEncoded: false))
        var count = 0
        for name in names.sorted() where name.hasSuffix(".md") {
            let page = try String(contentsOf: directory.appending(path: name), encoding: .utf8)
            for link in page.matches(of: #/\]\(([^)#:]*)(?:#([^):]*))?\)/#) {
                count += 1
                let target = directory.appending(path: link.1.isEmpty ? name : String(link.1))
                let path = target.standardized.path(percentEncoded: false)
                #expect(FileManager.default.fileExists(atPath: path), "\(name): \(link.0)")
                guard let anchor = link.2 else { continue }
                let headings = try String(contentsOf: target, encoding: .utf8).matches(of: #/(?m)^#+ (.*)$/#).map(\.1)
                #expect(headings.map(Self.anchor).contains(String(anchor)), "\(name): \(link.0)")
            }
        }
        #expect(count >= 10)
    }

    /// Returns the anchor that GitHub gives a heading.
    private static func anchor(_ heading: Substring) -> String {
        let text = heading.lowercased().filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" }
        return text.replacing(" ", with: "-")
    }

    @Test(arguments: [
        ("let number: Int = \"seven\"", 12),
        ("extension Int {\n    var half: Half { self / 2 }\n}", 13),
        ("import InwardCore\nlet deadline = Deadline.inventedHere()", 13),
        ("let request = DataRequest(url: \"no import\")", 12),
    ])
    func errorIsReportedAtItsLineInTheDocument(code: String, line: Int) async throws {
        let page = String(repeating: "Text.\n", count: 10) + "```swift\n\(code)\n```\n"
        var documentation = Documentation()
        documentation.add(CodeBlock.blocks(of: "Page.md", in: page).blocks, named: "Page", base: [])
        let errors = try await documentation.errors()
        #expect(errors.count == 1)
        #expect(errors.first?.hasPrefix("Page.md:\(line):") == true, "\(errors)")
    }

    @Test func blockSeesEarlierBlocksAndGettingStarted() async throws {
        let base = CodeBlock.blocks(of: "GettingStarted.md", in: "```swift\nlet first = 1\n```").blocks
        let page = "```swift\nlet second = first + 1\n```\n```swift\nlet first = second\nprint(first + second)\n```"
        var documentation = Documentation()
        documentation.add(CodeBlock.blocks(of: "Page.md", in: page).blocks, named: "Page", base: base)
        #expect(try await documentation.errors() == [])
    }

    @Test func blockDoesNotSeeImportsBelowIt() async throws {
        let page = "```swift\nlet deadline = Deadline(in: .seconds(1))\n```\n```swift\nimport InwardCore\n```\n"
        var documentation = Documentation()
        documentation.add(CodeBlock.blocks(of: "Page.md", in: page).blocks, named: "Page", base: [])
        let errors = try await documentation.errors()
        #expect(!errors.isEmpty && errors.allSatisfy { $0.hasPrefix("Page.md:2:") }, "\(errors)")
    }

    @Test func examplesInCommentsDoNotSeeEachOther() async throws {
        let comment = "/// ```swift\n/// let first = 1\n/// ```\n\n/// ```swift\n/// print(first)\n/// ```\n"
        var documentation = Documentation()
        let blocks = CodeBlock.blocks(of: "A.swift", in: comment).blocks
        documentation.add(blocks, named: "A", base: [], module: "InwardCore")
        let errors = try await documentation.errors()
        #expect(errors.count == 1)
        #expect(errors.first?.hasPrefix("A.swift:6:") == true, "\(errors)")
    }

    @Test func codeThatWouldNotBeCompiledIsFound() {
        let comment = "/// Text.\n///\n///     let indented = 1\n///\n/// ```\n/// let fenced = 1\n/// ```\n"
        #expect(CodeBlock.blocks(of: "A.swift", in: comment).malformed == ["A.swift:3", "A.swift:5"])
        let parameters = "/// - Parameters:\n///   - count: A number that is\n///     explained on two lines.\n"
        #expect(CodeBlock.blocks(of: "A.swift", in: parameters).malformed == [])
        #expect(CodeBlock.blocks(of: "A.swift", in: "/// ```swift\n/// 1\nlet a = 1\n").malformed == ["A.swift:1"])
        #expect(CodeBlock.blocks(of: "A.swift", in: "let a = 1\n/** A comment. */\n").malformed == ["A.swift:2"])
        let page = "```Swift\n1\n```\n~~~swift\n1\n~~~\n```swift title=x\n1\n```\n```swift\n1\n"
        let places = ["Page.md:1", "Page.md:4", "Page.md:6", "Page.md:7", "Page.md:10"]
        #expect(CodeBlock.blocks(of: "Page.md", in: page).malformed == places)
    }
}
