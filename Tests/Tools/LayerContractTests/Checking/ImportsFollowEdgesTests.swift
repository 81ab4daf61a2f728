import LayerContract
import Testing

struct ImportsFollowEdgesTests {
    private let core = "Sources/Core/Users/User.swift"
    private let adapters = "Sources/Adapters/Users/UserRow.swift"
    private let tests = "Tests/AdaptersTests/UserRowTests.swift"

    @Test func outwardImportIsFound() throws {
        #expect(
            try Sketch().with("import Adapters", in: core).findings() == [
                Finding(
                    rule: .importsFollowEdges,
                    location: SourceLocation(file: core, line: 1),
                    edge: "Core → Adapters",
                    message:
                        "“import Adapters” is in Core, and no arrow leads from Core to Adapters, which is an outer ring.",
                    remedy: "Remove the import, and declare what Core needs in a protocol that Adapters implements."
                )
            ]
        )
    }

    @Test func importWithoutADependencyIsFound() throws {
        var sketch = Sketch()
        sketch.targets[4].dependencies = [.target("Adapters")]
        #expect(
            try sketch.findings() == [
                Finding(
                    rule: .importsFollowEdges,
                    location: SourceLocation(file: tests, line: 1),
                    edge: "AdaptersTests → Support",
                    message: "“import Support” is in AdaptersTests, which does not declare the dependency.",
                    remedy: "Add \"Support\" to the dependencies of AdaptersTests in Package.swift."
                )
            ]
        )
    }

    @Test func forbiddenSystemModuleIsFound() throws {
        #expect(
            try Sketch().with("import Foundation", in: core).findings() == [
                Finding(
                    rule: .importsFollowEdges,
                    location: SourceLocation(file: core, line: 1),
                    edge: "Core → Foundation",
                    message: "“import Foundation” is in Core, and the ring Core does not allow Foundation.",
                    remedy:
                        "Move the code to a ring that may use Foundation, behind a protocol, or add Foundation to “imports:” of "
                        + "Core in Architecture.md if that is intended."
                )
            ]
        )
    }

    @Test func replacementIsAllowedOnlyWhereTheOtherModuleIsMissing() throws {
        let findings = try Sketch().with("import Foundation", in: adapters).findings()
        #expect(findings.map(\.location.line) == [1])
        #expect(findings.map(\.remedy) == ["Write the import in the #else of `#if canImport(FoundationEssentials)`."])
    }

    @Test(arguments: ["Swift", "_Concurrency", "_StringProcessing", "Core"])
    func standardLibraryAndOwnModuleNeedNoPermission(module: String) throws {
        #expect(try Sketch().with("import \(module)", in: core).findings() == [])
    }

    @Test func testingLibrariesAreAllowedOnlyInTests() throws {
        #expect(try Sketch().with("import XCTest", in: tests).findings() == [])
        #expect(try Sketch().with("import Testing", in: core).findings().map(\.edge) == ["Core → Testing"])
    }

    @Test func testsMayImportTheirOwnModulesAndThoseOfTheirRing() throws {
        #expect(try Sketch().with("import Synchronization", in: tests).findings() == [])
        var sketch = Sketch().with("import Dispatch", in: tests)
        #expect(try sketch.findings().map(\.edge) == ["AdaptersTests → Dispatch"])
        sketch.diagram = sketch.diagram.replacing("Adapters<br/>", with: "Adapters<br/>tests import: Dispatch<br/>")
        #expect(try sketch.findings() == [])
        #expect(try sketch.with("import Dispatch", in: adapters).findings().map(\.edge) == ["Adapters → Dispatch"])
    }

    @Test func moduleOfADeclaredProductIsAllowed() throws {
        let product = TargetDependency.product("Wires", package: "Wires", aliases: ["CoreOfWires"])
        var sketch = Sketch().with("import Wires", in: adapters).declaring(product, in: "Adapters")
        sketch.diagram = sketch.diagram.replacing("Adapters<br/>", with: "Adapters<br/>packages: wires<br/>")
        #expect(try sketch.findings() == [])
        #expect(try sketch.with("import CoreOfWires", in: adapters).findings() == [])
        #expect(try sketch.with("import Wire", in: adapters).findings().map(\.rule) == [.importsFollowEdges])
        // The diagram lists the modules of a package. A product whose name is listed is that module only.
        sketch.sources[adapters]?.replace("import Wires", with: "import Wire")
        sketch.diagram = sketch.diagram.replacing(": wires<", with: ": wires (Wire, Plug)<")
        #expect(try sketch.with("import Plug", in: adapters).findings() == [])
        sketch.diagram = sketch.diagram.replacing("(Wire, Plug)", with: "(Wire, Wires)")
        #expect(
            try sketch.findings().map(\.edge)
                == ["Adapters → Wires", "Adapters → Wires", "Adapters → Wire"]
        )
    }

    @Test func moduleOfAnUndeclaredProductIsFound() throws {
        var sketch = Sketch()
        sketch.targets.append(
            TargetDescription(name: "Other", dependencies: [.product("Wire", package: "wires", aliases: [])])
        )
        sketch.diagram = sketch.diagram.replacing(
            "Adapters[\"",
            with: "Adapters[\"targets: Adapters, Other<br/>packages: wires (Wire)<br/>"
        )
        sketch.sources["Sources/Other/Other.swift"] = "import Wire"
        #expect(try sketch.findings() == [])
        let findings = try sketch.with("import Wire", in: adapters).findings()
        #expect(findings.map(\.message) == ["“import Wire” is in Adapters, which declares no product of wires."])
    }

    @Test func modulesOfAPackageAreMergedForTests() throws {
        var sketch = Sketch().declaring(.product("Wire", package: "wires", aliases: []), in: "Adapters")
            .declaring(.product("WireMocks", package: "wires", aliases: []), in: "AdaptersTests")
            .with("import Wire", in: adapters).with("import WireMocks", in: tests)
        sketch.diagram = sketch.diagram.replacing(
            "Adapters<br/>",
            with: "Adapters<br/>packages: wires (Wire)<br/>tests use packages: wires (WireMocks)<br/>"
        )
        #expect(try sketch.findings() == [])
        #expect(try sketch.with("import WireMocks", in: adapters).findings().map(\.edge) == ["Adapters → WireMocks"])
    }

    @Test func targetInNoRingMayUseNothing() throws {
        var sketch = Sketch().declaring(.target("Stray"), in: "Core").with("import Stray", in: core)
        sketch.targets.append(TargetDescription(name: "Stray", dependencies: [.target("App")]))
        sketch.sources["Sources/Stray/A.swift"] = "import App\nimport Foundation\nimport Wire"
        sketch = sketch.declaring(.product("Wire", package: "wires", aliases: []), in: "Stray")
        #expect(
            try sketch.findings().map { "\($0.edge) \($0.rule.rawValue)" } == [
                "Core → Stray dependencies-follow-edges", "Stray → App dependencies-follow-edges",
                "Stray → wires packages-are-named", "Stray targets-match-rings", "Core → Stray imports-follow-edges",
                "Stray → App imports-follow-edges", "Stray → Foundation imports-follow-edges",
            ]
        )
    }

    @Test func testTargetListedWithItsTestedTargetCountsAsItsTests() throws {
        let sketch = Sketch().drawing("Core[\"targets: Core, CoreTests\"]")
        var tested = sketch
        tested.targets.append(TargetDescription(name: "CoreTests", kind: .test, dependencies: [.target("Core")]))
        tested.sources["Tests/CoreTests/A.swift"] = "@testable import Core"
        #expect(try tested.findings() == [])
    }

    @Test func conditionOnAnOuterTargetIsFound() throws {
        let findings = try Sketch().with("#if canImport(App)\n#endif", in: core).findings()
        #expect(findings.map(\.edge) == ["Core → App"])
        #expect(try Sketch().with("#if canImport(Core)\n#endif", in: adapters).findings() == [])
    }

    @Test func targetIsIdentifiedByItsModuleName() throws {
        var sketch = Sketch().with("import my_tool", in: core)
        sketch.targets.append(TargetDescription(name: "my-tool", moduleName: "my_tool"))
        let findings = try sketch.drawing("my-tool --> Core").findings()
        #expect(findings.map(\.edge).contains("Core → my-tool"))
    }
}
