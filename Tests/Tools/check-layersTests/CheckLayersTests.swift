import Foundation
import Testing

@testable import check_layers

struct CheckLayersTests {
    private let arrow = "```mermaid\nflowchart LR\n    App --> Adapters\n    Adapters --> Core\n    App --> Core\n```\n"

    @Test func unknownOptionPrintsTheUsage() async throws {
        let answer = try await TemporaryPackage().check("--nonsense")
        #expect(answer.exitCode == .failure)
        #expect(answer.errors.hasPrefix("check-layers: there is no option --nonsense\n\nusage: check-layers"))
        #expect(answer.output == "")
    }

    @Test func helpSucceeds() async throws {
        let answer = try await TemporaryPackage().check("--help")
        #expect(answer.exitCode == .success)
        #expect(answer.output == Arguments.usage)
    }

    /// Files, each with a text that cannot be checked, and a part of the explanation.
    private static let faults = [
        ("Architecture.md", "# Nothing\n", "There is no Mermaid flowchart in Architecture.md"),
        ("Architecture.md", "```mermaid\nflowchart LR\n```\n", "line 2: The diagram has no ring"),
        ("Architecture.md", "```mermaid\nflowchart LR\nA --> B\n```\n", "matches no target of the package sketch"),
        (
            "Architecture.md", "```mermaid\nflowchart LR\nA --- B\n```\n",
            "Architecture.md: line 3: “--- B” is not valid here"
        ),
        ("Sources/Core/Users/User.swift", "/* open", "Sources/Core/Users/User.swift:1: A comment that begins here"),
        ("Package.swift", "// swift-tools-version: 6.0\nlet x = \n", "“swift package describe --type json” failed"),
    ]

    // A sample has a fault of the diagram, and one that SwiftPM finds.
    @Test(arguments: MutationTests.areAllWanted ? faults : [faults[2], faults[5]])
    func packageThatCannotBeCheckedFails(file: String, text: String, explanation: String) async throws {
        let package = try TemporaryPackage()
        try package.write(text, to: file)
        let answer = await package.check()
        #expect(answer.exitCode == .failure)
        #expect(answer.errors.hasPrefix("check-layers: "))
        #expect(answer.errors.contains(explanation), "\(answer.errors)")
        #expect(answer.output == "")
    }

    @Test func sourceThatIsNotTextIsAnError() async throws {
        let package = try TemporaryPackage()
        try package.write([0xFF, 0xFE, 0x00], to: "Sources/App/Other.swift")
        let answer = await package.check()
        #expect(answer.exitCode == .failure)
        #expect(answer.errors == "check-layers: Sources/App/Other.swift:1: The source is not UTF-8.\n")
    }

    @Test func missingDiagramOrBaselineIsAnError() async throws {
        let package = try TemporaryPackage()
        let baseline = await package.check("--baseline", "none.json")
        #expect(baseline.exitCode == .failure)
        #expect(baseline.errors.hasPrefix("check-layers: none.json cannot be read"))
        try package.remove("Architecture.md")
        let answer = await package.check()
        #expect(answer.exitCode == .failure)
        #expect(answer.errors.hasPrefix("check-layers: Architecture.md cannot be read"))
    }

    @Test func diagramMayBeInAnotherFile() async throws {
        let package = try TemporaryPackage()
        try package.write(
            "# One\n\(arrow)# Two\n\(TemporaryPackage.files["Architecture.md"] ?? "")",
            to: "Docs/Rings.md"
        )
        #expect(await package.check("--diagram", "Docs/Rings.md").exitCode == .findings)
        #expect(await package.check("--diagram", "Docs/Rings.md", "--block", "Two").exitCode == .failure)
        #expect(await package.check("--diagram", "Docs/Rings.md", "--block", "Architecture").exitCode == .success)
    }

    @Test func reportIsWrittenToTheGivenFile() async throws {
        let package = try TemporaryPackage()
        try package.write(arrow, to: "Architecture.md")
        let answer = await package.check("--format", "sarif", "--output", "report.sarif")
        #expect(answer.exitCode == .findings)
        #expect(answer.output == "")
        #expect(answer.errors.hasPrefix("SwiftPM described the package in "))
        #expect(try package.text(of: "report.sarif").contains("\"startLine\" : 5"))
        let nowhere = await package.check("--output", "no/such/report")
        #expect(nowhere.exitCode == .failure)
        #expect(nowhere.errors.hasPrefix("check-layers: no/such/report cannot be written"))
    }

    @Test func baselineAcceptsItsFindingsUntilTheyAreFixed() async throws {
        let package = try TemporaryPackage()
        try package.write(arrow, to: "Architecture.md")
        let recorded = await package.check("--record-baseline", "layers.json")
        #expect(recorded.exitCode == .success)
        #expect(recorded.output == "Findings recorded in layers.json: 1.\n")
        #expect(await package.check("--baseline", "layers.json").exitCode == .success)
        try package.insert("import Foundation", at: 1, of: "Sources/App/App.swift")
        let worse = await package.check("--baseline", "layers.json")
        #expect(worse.exitCode == .findings)
        #expect(worse.output.contains("App → Foundation"))
        #expect(!worse.output.contains("App → Core"))
        try package.write(TemporaryPackage.files["Architecture.md"] ?? "", to: "Architecture.md")
        try package.write("import Adapters", to: "Sources/App/App.swift")
        let mended = await package.check("--baseline", "layers.json")
        #expect(mended.exitCode == .findings)
        #expect(mended.output.hasPrefix("layers.json:1: App → Core [baseline-is-current]"))
    }

    @Test func writtenDiagramMatchesTheCode() async throws {
        let package = try TemporaryPackage()
        try package.remove("Architecture.md")
        try package.insert("import Foundation", at: 1, of: "Sources/Core/Users/User.swift")
        let drawn = await package.check("--write")
        #expect(drawn.exitCode == .success)
        #expect(drawn.output == "The diagram of the current code was written to Architecture.md.\n")
        #expect(try package.text(of: "Architecture.md").contains("Core[\"Core<br/>imports: Foundation\"]"))
        #expect(await package.check().exitCode == .success)
    }

    @Test func otherDiagramsOfTheFileAreKept() async throws {
        let package = try TemporaryPackage()
        let text = "# Ours\n\n```mermaid\nsequenceDiagram\n    A->>B: hello\n```\n"
        try package.write(text, to: "Architecture.md")
        #expect(await package.check("--write").exitCode == .success)
        #expect(try package.text(of: "Architecture.md").hasPrefix(text + "\n## Layers\n"))
        #expect(await package.check().exitCode == .success)
    }

    @Test func lineBreaksAndByteOrderMarkAreKept() async throws {
        let package = try TemporaryPackage()
        let text =
            "\u{FEFF}# Ours\r\n- one\r\n  ```mermaid\r\n  graph LR\r\n      App --> Adapters\r\n  ```\r\nEnd.\r\n"
        try package.write(text, to: "Architecture.md")
        #expect(await package.check("--write").exitCode == .success)
        let drawn = try package.text(of: "Architecture.md")
        #expect(drawn.hasPrefix("\u{FEFF}# Ours\r\n- one\r\n  ```mermaid\r\n  graph LR\r\n      App["))
        #expect(drawn.hasSuffix("      Adapters --> Core\r\n  ```\r\nEnd.\r\n"))
        #expect(await package.check("--write").exitCode == .success)
        #expect(try package.text(of: "Architecture.md") == drawn)
    }

    @Test func invalidDiagramIsNotOverwritten() async throws {
        let package = try TemporaryPackage()
        let text = "```mermaid\nflowchart LR\nA --- B\n```\n"
        try package.write(text, to: "Architecture.md")
        #expect(await package.check("--write").exitCode == .failure)
        #expect(try package.text(of: "Architecture.md") == text)
    }

    @Test func headersOfCTargetsAreReadAlthoughSwiftPMDoesNotListThem() async throws {
        let package = try TemporaryPackage()
        let manifest = try package.text(of: "Package.swift")
        try package.write(
            manifest + """

                package.targets.append(.target(name: "CWire", dependencies: ["CZ"]))
                package.targets.append(.systemLibrary(name: "CZ", pkgConfig: "zlib"))
                """,
            to: "Package.swift"
        )
        try package.insert("    CWire --> CZ", at: 5, of: "Architecture.md")
        try package.write("#include \"CWire.h\"\n#include <zlib.h>\n", to: "Sources/CWire/wire.c")
        try package.write("#include <stdint.h>\n", to: "Sources/CWire/include/CWire.h")
        try package.write("module CZ { header \"shim.h\" }", to: "Sources/CZ/module.modulemap")
        try package.write("#include <zlib.h>", to: "Sources/CZ/shim.h")
        let clean = await package.check()
        #expect(clean.output == "No findings: 9 files, 10 imports, 6 targets, 3 edges.\n", "\(clean.errors)")
        try package.write("#include <stdint.h>\n#include <curl/curl.h>\n", to: "Sources/CWire/include/CWire.h")
        let answer = await package.check()
        #expect(answer.exitCode == .findings)
        #expect(
            answer.output.hasPrefix("Sources/CWire/include/CWire.h:2: CWire → curl [imports-follow-edges]\n"),
            "\(answer.output)"
        )
    }

    @Test func secondFlowchartIsNotedAndDoesNotFail() async throws {
        let package = try TemporaryPackage()
        try package.write((TemporaryPackage.files["Architecture.md"] ?? "") + "\n\n\(arrow)", to: "Architecture.md")
        let answer = await package.check()
        #expect(answer.exitCode == .success)
        #expect(answer.output.hasPrefix("Architecture.md:9: note: This Mermaid flowchart is ignored."))
        #expect(answer.output.contains("\nNo findings: "))
    }
}
