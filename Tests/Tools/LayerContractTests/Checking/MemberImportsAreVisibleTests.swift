import LayerContract
import Testing

struct MemberImportsAreVisibleTests {
    @Test func targetWithoutTheFeatureIsFound() throws {
        var sketch = Sketch()
        sketch.manifest = "let package = Package(targets: [\n    .target(name: \"Core\"),\n])"
        sketch.targets[0] = TargetDescription(name: "Core", checksMemberImports: false)
        #expect(
            try sketch.findings() == [
                Finding(
                    rule: .memberImportsAreVisible,
                    location: SourceLocation(file: "Package.swift", line: 2),
                    edge: "Core",
                    message:
                        "Core is compiled without the upcoming feature MemberImportVisibility, so its files can use "
                        + "members of modules that they do not import.",
                    remedy: "Add `.enableUpcomingFeature(\"MemberImportVisibility\")` to the swiftSettings of Core in "
                        + "Package.swift, without a condition, and the imports that the compiler then asks for."
                )
            ]
        )
    }

    @Test func targetInNoRingIsNotChecked() throws {
        var sketch = Sketch()
        sketch.targets.append(TargetDescription(name: "Stray", checksMemberImports: false))
        #expect(try sketch.findings().map(\.rule) == [.targetsMatchRings])
    }
}
