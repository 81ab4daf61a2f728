import LayerContract
import Testing

struct PackagesAreNamedTests {
    private let product = TargetDependency.product("Wire", package: "wires", aliases: [])

    @Test func unnamedPackageIsFound() throws {
        var sketch = Sketch().declaring(product, in: "Adapters")
        sketch.manifest =
            "[\n.target(name: \"Adapters\", dependencies: [\n.product(name: \"Wire\", package: \"wires\")])]"
        #expect(
            try sketch.findings() == [
                Finding(
                    rule: .packagesAreNamed,
                    location: SourceLocation(file: "Package.swift", line: 3),
                    edge: "Adapters → wires",
                    message: "Adapters uses Wire of the package wires, and the ring Adapters does not name it.",
                    remedy:
                        "Move the code to a ring that may use wires, behind a protocol, or add wires to “packages:” of "
                        + "Adapters in Architecture.md if that is intended."
                )
            ]
        )
    }

    @Test func packageForTestsIsOnlyForTests() throws {
        var sketch = Sketch().declaring(product, in: "AdaptersTests")
            .with("import Wire", in: "Tests/AdaptersTests/UserRowTests.swift")
        #expect(try sketch.findings().map(\.edge) == ["AdaptersTests → wires"])
        sketch.diagram = sketch.diagram.replacing("Adapters<br/>", with: "Adapters<br/>tests use packages: wires<br/>")
        #expect(try sketch.findings() == [])
        #expect(try sketch.declaring(product, in: "Adapters").findings().map(\.edge) == ["Adapters → wires"])
    }

    @Test func pluginCountsAsAUseOfItsPackage() throws {
        let sketch = Sketch().declaring(.plugin("Generator", package: "wires"), in: "Core")
        #expect(try sketch.findings().map(\.edge) == ["Core → wires"])
    }
}
