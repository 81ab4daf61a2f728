import LayerContract
import Testing

struct TestableByOwnTestsTests {
    private let tests = "Tests/AdaptersTests/UserRowTests.swift"

    @Test func testableImportOfAnotherRingIsFound() throws {
        let sketch = Sketch().declaring(.target("Core"), in: "AdaptersTests").with("@testable import Core", in: tests)
        #expect(
            try sketch.findings() == [
                Finding(
                    rule: .testableByOwnTests,
                    location: SourceLocation(file: tests, line: 1),
                    edge: "AdaptersTests → Core",
                    message: "“@testable import Core” is in AdaptersTests, which is not a test target of its ring.",
                    remedy: "Test it through its public interface, or in a test target of the ring of Core."
                )
            ]
        )
    }

    @Test func testableImportOutsideOfTestsIsFound() throws {
        var sketch = Sketch()
        sketch.sources["Sources/App/App.swift"] = "@testable import Adapters"
        #expect(try sketch.findings().map(\.rule) == [.testableByOwnTests])
    }

    @Test func testableImportOfASystemModuleIsFound() throws {
        let findings = try Sketch().with("@testable import Synchronization", in: tests).findings()
        #expect(findings.map(\.rule) == [.testableByOwnTests])
    }

    @Test func ringOfTestsMayTestTheTargetThatItIsNamedAfter() throws {
        var sketch = Sketch().drawing("CoreTests --> Core").drawing("Checks --> Core")
        for name in ["CoreTests", "Checks"] {
            sketch.targets.append(TargetDescription(name: name, kind: .test, dependencies: [.target("Core")]))
            sketch.sources["Tests/\(name)/A.swift"] = "@testable import Core"
        }
        #expect(try sketch.findings().map(\.edge) == ["Checks → Core"])
    }

    @Test func everyTestTargetOfARingMayImportItsInternals() throws {
        var sketch = Sketch()
        sketch.targets.append(
            TargetDescription(name: "Checks", kind: .test, dependencies: [.target("Adapters")])
        )
        sketch.sources["Tests/Checks/Check.swift"] = "@testable import Adapters"
        sketch.diagram = sketch.diagram.replacing("Adapters<br/>", with: "Adapters<br/>tests: Checks<br/>")
        #expect(try sketch.findings() == [])
    }
}
