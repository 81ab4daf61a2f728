import LayerContract
import Testing

struct DependenciesFollowEdgesTests {
    private let file = "Sources/Core/Users/User.swift"

    @Test func outwardDependencyIsFoundAtItsLine() throws {
        var sketch = Sketch().declaring(.target("Adapters"), in: "Core").with("import Adapters", in: file)
        sketch.manifest = """
            let package = Package(
                products: [.plugin(name: "Core", targets: ["X"])],
                targets: [
                    .target(name: "Other", dependencies: [.target(name: "Core"), "Adapters"]),
                    .target(
                        name: "Core",
                        dependencies: [
                            "Adapters",
                        ]
                    ),
                ]
            )
            """
        let findings = try sketch.findings()
        #expect(findings.map(\.rule) == [.dependenciesFollowEdges, .importsFollowEdges])
        #expect(
            findings.first
                == Finding(
                    rule: .dependenciesFollowEdges,
                    location: SourceLocation(file: "Package.swift", line: 8),
                    edge: "Core → Adapters",
                    message:
                        "Core declares a dependency on Adapters, and no arrow leads from Core to Adapters, which is an "
                        + "outer ring.",
                    remedy: "Remove the dependency, and declare what Core needs in a protocol that Adapters implements."
                )
        )
    }

    @Test func dependencyThatSkipsARingNeedsItsOwnArrow() throws {
        let sketch = Sketch().declaring(.target("Core"), in: "App").with("import Core", in: "Sources/App/App.swift")
        #expect(try sketch.findings().map(\.rule) == [.dependenciesFollowEdges, .importsFollowEdges])
        #expect(try sketch.drawing("App --> Core").findings() == [])
    }

    @Test func dottedArrowDoesNotAllowTheRing() throws {
        let sketch = Sketch().declaring(.target("Support"), in: "Adapters")
            .with("import Support", in: "Sources/Adapters/Users/UserRow.swift")
        #expect(try sketch.findings().map(\.rule) == [.dependenciesFollowEdges, .importsFollowEdges])
    }

    @Test func testsMayUseEverythingThatTheirRingMay() throws {
        let sketch = Sketch().declaring(.target("Core"), in: "AdaptersTests")
            .with("import Core", in: "Tests/AdaptersTests/UserRowTests.swift")
        #expect(try sketch.findings() == [])
    }

    @Test func testTargetMayNotBeUsed() throws {
        let sketch = Sketch().declaring(.target("AdaptersTests"), in: "App")
            .with("import AdaptersTests", in: "Sources/App/App.swift")
        let findings = try sketch.findings()
        #expect(findings.map(\.rule) == [.dependenciesFollowEdges, .importsFollowEdges])
        #expect(findings.allSatisfy { $0.message.contains("AdaptersTests is a test target") })
    }

    @Test func arrowToItselfLetsTargetsOfARingUseEachOther() throws {
        var sketch = Sketch().declaring(.target("Core2"), in: "Core").with("import Core2", in: file)
            .drawing("Core[\"targets: Core, Core2\"]")
        sketch.targets.append(TargetDescription(name: "Core2"))
        #expect(try sketch.findings().map(\.rule) == [.dependenciesFollowEdges, .importsFollowEdges])
        #expect(try sketch.drawing("Core --> Core").findings() == [])
    }
}
