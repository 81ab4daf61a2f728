import LayerContract
import Testing

struct DiagramIsUsedTests {
    @Test func unusedArrowIsFound() throws {
        #expect(
            try Sketch().drawing("App --> Core").findings() == [
                Finding(
                    rule: .diagramIsUsed,
                    location: SourceLocation(file: "Architecture.md", line: 9),
                    edge: "App → Core",
                    message: "Nothing uses the arrow from App to Core.",
                    remedy: "Remove the arrow from the diagram."
                )
            ]
        )
    }

    @Test func arrowUsedOnlyByTestsMustBeDotted() throws {
        let findings = try Sketch().drawing("Adapters --> Support").findings()
        #expect(
            findings.map(\.message) == [
                "The tests of Adapters may already use Support, because Adapters may.",
                "Only the tests of Adapters use Support.",
            ]
        )
        #expect(
            findings.map(\.remedy) == [
                "Remove the arrow from the diagram.", "Replace the arrow with `Adapters -.-> Support`.",
            ]
        )
    }

    @Test func dependencyThatIsNotImportedIsFound() throws {
        var sketch = Sketch()
        sketch.sources["Sources/App/App.swift"] = ""
        let findings = try sketch.findings()
        #expect(findings.map(\.edge) == ["App → Adapters", "App → Adapters"])
        #expect(
            findings.map(\.message) == [
                "Nothing uses the arrow from App to Adapters.",
                "App declares a dependency on Adapters but does not import it.",
            ]
        )
    }

    @Test func dependencyThatCannotBeImportedCountsAsUsed() throws {
        let sketch = Sketch().declaring(.target("App"), in: "AdaptersTests").drawing("Adapters -.-> App")
        #expect(try sketch.findings() == [])
    }

    @Test func productThatIsNotImportedIsFound() throws {
        var sketch = Sketch().declaring(.product("Wire", package: "wires", aliases: []), in: "Adapters")
        sketch.diagram = sketch.diagram.replacing("Adapters<br/>", with: "Adapters<br/>packages: wires<br/>")
        #expect(
            try sketch.findings().map(\.message)
                == ["Adapters declares a dependency on Wire but does not import it."]
        )
        #expect(try sketch.with("import Wire", in: "Sources/Adapters/Users/UserRow.swift").findings() == [])
    }

    @Test func toolOfAPluginCountsAsUsed() throws {
        var sketch = Sketch().drawing("Plugin --> Core")
        sketch.targets.append(TargetDescription(name: "Plugin", kind: .plugin, dependencies: [.target("Core")]))
        #expect(try sketch.findings() == [])
    }

    @Test func targetInAnotherLanguageMustBeImportedToo() throws {
        var sketch = Sketch().declaring(.target("CLib"), in: "Adapters").drawing("Adapters --> CLib")
        sketch.targets.append(TargetDescription(name: "CLib", kind: .other))
        #expect(try sketch.findings().map(\.edge) == ["Adapters → CLib", "Adapters → CLib"])
        #expect(try sketch.with("import CLib", in: "Sources/Adapters/Users/UserRow.swift").findings() == [])
    }

    @Test func redundantPermissionForTestsIsFound() throws {
        var sketch = Sketch().with("import Synchronization", in: "Tests/AdaptersTests/UserRowTests.swift")
        sketch.diagram = sketch.diagram.replacing(
            "Adapters<br/>",
            with: "Adapters<br/>tests import: Synchronization<br/>"
        )
        #expect(
            try sketch.findings().map(\.message)
                == ["The tests of Adapters may already import Synchronization, because Adapters may."]
        )
    }

    @Test func moduleImportedOnlyByTestsNeedsATestPermission() throws {
        var sketch = Sketch().with("import Dispatch", in: "Tests/AdaptersTests/UserRowTests.swift")
        sketch.diagram = sketch.diagram.replacing("imports: ", with: "imports: Dispatch, ")
        #expect(try sketch.findings().map(\.edge) == ["Adapters → Dispatch"])
    }

    @Test func packageModuleThatIsNotImportedIsFound() throws {
        var sketch = Sketch().declaring(.product("Wire", package: "wires", aliases: []), in: "Adapters")
            .with("import Wire", in: "Sources/Adapters/Users/UserRow.swift")
        sketch.diagram = sketch.diagram.replacing(
            "Adapters<br/>",
            with: "Adapters<br/>packages: wires (Wire, Ghost)<br/>"
        )
        #expect(try sketch.findings().map(\.edge) == ["Adapters → Ghost"])
    }

    @Test func unusedLinkOrFlagIsFound() throws {
        var sketch = Sketch()
        sketch.diagram = sketch.diagram.replacing(
            "Adapters<br/>",
            with: "Adapters<br/>links: z<br/>unsafe flags: c<br/>"
        )
        #expect(
            try sketch.findings().map(\.message) == [
                "The ring Adapters may pass unsafe flags to c, but none of its targets does.",
                "The ring Adapters may link z, but none of its targets does.",
            ]
        )
        sketch.targets[1].settings = [
            BuildSetting(.linkedFramework("z"), for: .linker), BuildSetting(.unsafeFlags(["-O3"]), for: .c),
        ]
        #expect(try sketch.findings() == [])
    }

    @Test func unusedPermissionIsFound() throws {
        var sketch = Sketch()
        sketch.diagram = sketch.diagram.replacing(
            "Adapters<br/>",
            with: "Adapters<br/>tests import: Dispatch<br/>packages: wires<br/>tests use packages: mocks<br/>"
        )
        sketch.sources["Sources/Adapters/Users/UserRow.swift"] = "import Core\nimport FoundationEssentials"
        #expect(
            try sketch.findings().map(\.edge) == [
                "Adapters → Dispatch", "Adapters → Foundation", "Adapters → Synchronization", "Adapters → mocks",
                "Adapters → wires",
            ]
        )
    }
}
