import LayerContract
import Testing

struct BuildSettingsAreNamedTests {
    private func sketch(_ settings: BuildSetting...) -> Sketch {
        var sketch = Sketch()
        sketch.targets[0] = TargetDescription(name: "Core", settings: settings)
        return sketch
    }

    @Test func unnamedLibraryIsFoundAtItsLine() throws {
        var sketch = sketch(BuildSetting(.linkedLibrary("curl"), for: .linker, isConditional: true))
        sketch.manifest = """
            let package = Package(targets: [
                .target(
                    name: "Core",
                    linkerSettings: [
                        .linkedLibrary("curl", .when(platforms: [.linux])),
                    ]
                ),
            ])
            """
        #expect(
            try sketch.findings() == [
                Finding(
                    rule: .buildSettingsAreNamed,
                    location: SourceLocation(file: "Package.swift", line: 5),
                    edge: "Core → curl",
                    message: "Core links curl, and the ring Core does not name it.",
                    remedy:
                        "Link it in a ring that may, or add it to “links:” of Core in Architecture.md if that is intended."
                )
            ]
        )
        #expect(try sketch.drawing("Core[\"links: curl\"]").findings() == [])
    }

    @Test func frameworkCountsAsALink() throws {
        let sketch = sketch(BuildSetting(.linkedFramework("Security"), for: .linker))
        #expect(try sketch.findings().map(\.edge) == ["Core → Security"])
        #expect(try sketch.drawing("Core[\"links: Security\"]").findings() == [])
    }

    @Test(arguments: BuildSetting.Tool.allCases)
    func unsafeFlagsAreAllowedPerTool(tool: BuildSetting.Tool) throws {
        var sketch = sketch(BuildSetting(.unsafeFlags(["-l", "curl"]), for: tool))
        sketch.manifest = "let package = Package(targets: [\n.target(name: \"Core\",\ncSettings: [.unsafeFlags([])])])"
        let finding = try #require(try sketch.findings().first)
        #expect(finding.rule == .buildSettingsAreNamed)
        #expect(finding.location.line == 3)
        #expect(finding.message.hasPrefix("Core passes unsafe flags to \(tool.rawValue): “-l curl”, and the ring Core"))
        #expect(try sketch.drawing("Core[\"unsafe flags: \(tool.rawValue)\"]").findings() == [])
    }

    @Test func libraryIsReportedOnceAndAlsoInTests() throws {
        var sketch = sketch(
            BuildSetting(.linkedLibrary("curl"), for: .linker),
            BuildSetting(.linkedLibrary("curl"), for: .linker)
        )
        #expect(try sketch.findings().count == 1)
        sketch = Sketch()
        sketch.targets[4].settings = [BuildSetting(.linkedLibrary("curl"), for: .linker)]
        #expect(try sketch.findings().map(\.edge) == ["AdaptersTests → curl"])
    }

    @Test func linkInAModuleMapCountsLikeASetting() throws {
        var sketch = Sketch().drawing("CWire")
        sketch.targets.append(TargetDescription(name: "CWire", kind: .other, language: .c, sources: ["wire.c"]))
        sketch.sources["Sources/CWire/include/module.modulemap"] =
            "module CWire {\n  header \"wire.h\"\n  // link \"z\"\n  link \"curl\" link framework \"Security\"\n}"
        sketch.sources["Sources/CWire/include/wire.h"] = ""
        let findings = try sketch.findings()
        #expect(findings.map(\.edge) == ["CWire → Security", "CWire → curl"])
        #expect(findings.map(\.location.line) == [4, 4])
        sketch.diagram = sketch.diagram.replacing("    CWire", with: "    CWire[\"links: curl, Security\"]")
        #expect(try sketch.findings() == [])
    }

    @Test func unknownToolIsAnError() {
        let error = #expect(throws: DiagramError.self) {
            try Sketch().drawing("Core[\"unsafe flags: ld\"]").findings()
        }
        #expect(error?.explanation.contains("“ld” is not a tool that takes unsafe flags") == true)
    }
}
