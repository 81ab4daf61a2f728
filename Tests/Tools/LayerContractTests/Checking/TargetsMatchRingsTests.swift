import LayerContract
import Testing

struct TargetsMatchRingsTests {
    @Test func sketchHasNoFindings() throws {
        let report = try Sketch().report()
        #expect(report.findings == [])
        #expect(report.fileCount == 5)
        #expect(report.importCount == 8)
        #expect(report.targetCount == 5)
        #expect(report.edgeCount == 3)
    }

    @Test func targetInNoRingIsFound() throws {
        var sketch = Sketch()
        sketch.targets.append(TargetDescription(name: "Stray"))
        sketch.manifest = "let package = Package(\n  targets: [\n    .target(name: \"Stray\"),\n  ]\n)"
        #expect(
            try sketch.findings() == [
                Finding(
                    rule: .targetsMatchRings,
                    location: SourceLocation(file: "Package.swift", line: 3),
                    edge: "Stray",
                    message: "The target Stray is in no ring of the diagram.",
                    remedy: "Draw it in Architecture.md as a ring of its own, or add it to “targets:” of one."
                )
            ]
        )
    }

    @Test func testTargetNamedAfterNoTargetIsFound() throws {
        var sketch = Sketch()
        sketch.targets.append(TargetDescription(name: "Checks", kind: .test))
        sketch.targets.append(TargetDescription(name: "OtherTests", kind: .test))
        #expect(try sketch.findings().map(\.edge) == ["Checks", "OtherTests"])
        sketch.diagram = sketch.diagram.replacing("Adapters<br/>", with: "Adapters<br/>tests: Checks, OtherTests<br/>")
        #expect(try sketch.findings() == [])
    }

    @Test func ringWithoutATargetIsFound() throws {
        let findings = try Sketch().drawing("Ghost").findings()
        #expect(findings.map(\.rule) == [.targetsMatchRings])
        #expect(findings.map(\.location) == [SourceLocation(file: "Architecture.md", line: 9)])
        #expect(findings.map(\.message) == ["The ring Ghost has no target: the package has no target of this name."])
    }

    @Test func ringThatNamesAMissingTargetIsFound() throws {
        let findings = try Sketch().drawing("Core[\"targets: Core, Ghost<br/>tests: Ghosts\"]").findings()
        #expect(findings.map(\.edge) == ["Ghost", "Ghosts"])
    }

    @Test func libraryWithTheNameOfATestTargetIsNotATestTarget() throws {
        var sketch = Sketch()
        sketch.targets.append(TargetDescription(name: "CoreTests"))
        #expect(try sketch.findings().map(\.edge) == ["CoreTests"])
    }

    @Test func libraryListedAsATestTargetIsFound() throws {
        var sketch = Sketch().drawing("Core[\"tests: Helper\"]")
        sketch.targets.append(TargetDescription(name: "Helper"))
        #expect(
            try sketch.findings().map(\.message) == ["The ring Core names Helper as a test target, but it is not one."]
        )
    }

    @Test func diagramThatMatchesNoTargetIsAnError() {
        var sketch = Sketch()
        sketch.diagram = "```mermaid\ngraph\nElse --> Where\n```"
        #expect(throws: DiagramError.self) { try sketch.findings() }
    }

    @Test func packageWithoutSourcesIsAnError() {
        var sketch = Sketch()
        sketch.sources = [:]
        #expect(throws: DiagramError.self) { try sketch.findings() }
    }
}
