import LayerContract
import Testing

struct DiagramIsUsedTests {
    @Test func anArrowThatNobodyUsesIsFound() throws {
        #expect(
            try Sketch().drawing("App --> Core").findings() == [
                Finding(
                    rule: .diagramIsUsed,
                    location: SourceLocation(file: "Architecture.md", line: 9),
                    edge: "App → Core",
                    message: "Nobody uses the arrow from App to Core.",
                    remedy: "Take the arrow out of the diagram."
                )
            ]
        )
    }

    @Test func anArrowThatOnlyTestsUseIsDottedAndOneOfBothIsEnough() throws {
        let solid = Sketch().drawing("Adapters --> Support")
        #expect(
            try solid.findings().map(\.message) == [
                "The tests of Adapters may use Support already, because Adapters may.",
                "Only the tests of Adapters use Support: that is drawn `-.->`.",
            ]
        )
    }

    @Test func aDependencyThatNobodyImportsIsFound() throws {
        var sketch = Sketch()
        sketch.sources["Sources/App/App.swift"] = ""
        let findings = try sketch.findings()
        #expect(findings.map(\.edge) == ["App → Adapters", "App → Adapters"])
        #expect(
            findings.map(\.message) == [
                "Nobody uses the arrow from App to Adapters.",
                "App declares a dependency on Adapters and does not import it.",
            ]
        )
    }

    @Test func whatCannotBeImportedIsUsedByBeingDeclared() throws {
        let sketch = Sketch().declaring(.target("App"), in: "AdaptersTests").drawing("Adapters -.-> App")
        #expect(try sketch.findings() == [])
    }

    @Test func aProductThatNobodyImportsIsFound() throws {
        var sketch = Sketch().declaring(.product("Wire", package: "wires", aliases: []), in: "Adapters")
        sketch.diagram = sketch.diagram.replacing("Adapters<br/>", with: "Adapters<br/>packages: wires<br/>")
        #expect(
            try sketch.findings().map(\.message)
                == ["Adapters declares a dependency on Wire and does not import it."]
        )
        #expect(try sketch.with("import Wire", in: "Sources/Adapters/Users/UserRow.swift").findings() == [])
    }

    @Test func aPluginUsesItsToolsByDeclaringThem() throws {
        var sketch = Sketch().drawing("Plugin --> Core")
        sketch.targets.append(TargetDescription(name: "Plugin", kind: .plugin, dependencies: [.target("Core")]))
        #expect(try sketch.findings() == [])
    }

    @Test func whatIsNotSwiftIsImportedLikeALibrary() throws {
        var sketch = Sketch().declaring(.target("CLib"), in: "Adapters").drawing("Adapters --> CLib")
        sketch.targets.append(TargetDescription(name: "CLib", kind: .other))
        #expect(try sketch.findings().map(\.edge) == ["Adapters → CLib", "Adapters → CLib"])
        #expect(try sketch.with("import CLib", in: "Sources/Adapters/Users/UserRow.swift").findings() == [])
    }

    @Test func whatTheRingMayIsNotAllowedToItsTestsAgain() throws {
        var sketch = Sketch().with("import Synchronization", in: "Tests/AdaptersTests/UserRowTests.swift")
        sketch.diagram = sketch.diagram.replacing(
            "Adapters<br/>",
            with: "Adapters<br/>tests import: Synchronization<br/>"
        )
        #expect(
            try sketch.findings().map(\.message)
                == ["The tests of Adapters may import Synchronization already, because Adapters may."]
        )
    }

    @Test func whatOnlyTheTestsImportIsForTheTests() throws {
        var sketch = Sketch().with("import Dispatch", in: "Tests/AdaptersTests/UserRowTests.swift")
        sketch.diagram = sketch.diagram.replacing("imports: ", with: "imports: Dispatch, ")
        #expect(try sketch.findings().map(\.edge) == ["Adapters → Dispatch"])
    }

    @Test func aModuleOfAPackageThatNobodyImportsIsFound() throws {
        var sketch = Sketch().declaring(.product("Wire", package: "wires", aliases: []), in: "Adapters")
            .with("import Wire", in: "Sources/Adapters/Users/UserRow.swift")
        sketch.diagram = sketch.diagram.replacing(
            "Adapters<br/>",
            with: "Adapters<br/>packages: wires (Wire, Ghost)<br/>"
        )
        #expect(try sketch.findings().map(\.edge) == ["Adapters → Ghost"])
    }

    @Test func aLinkOrFlagThatNobodyUsesIsFound() throws {
        var sketch = Sketch()
        sketch.diagram = sketch.diagram.replacing(
            "Adapters<br/>",
            with: "Adapters<br/>links: z<br/>unsafe flags: c<br/>"
        )
        #expect(
            try sketch.findings().map(\.message) == [
                "The ring Adapters may pass unsafe flags to c, and none of its targets does.",
                "The ring Adapters may link z, and none of its targets does.",
            ]
        )
        sketch.targets[1].settings = [
            BuildSetting(.linkedFramework("z"), for: .linker), BuildSetting(.unsafeFlags(["-O3"]), for: .c),
        ]
        #expect(try sketch.findings() == [])
    }

    @Test func aPermissionThatNobodyUsesIsFound() throws {
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
