import LayerContract
import Testing

struct LayerDrawingTests {
    private func drawn(_ sketch: Sketch, over markdown: String) throws -> String {
        let known = try? LayerDiagram(markdown: markdown, file: "Architecture.md")
        return LayerDrawing(
            package: PackageDescription(name: "sketch", targets: sketch.targets),
            sources: try sketch.facts(),
            replacing: known
        ).drawn(into: markdown)
    }

    @Test func drawingAMatchingDiagramChangesNothing() throws {
        var sketch = Sketch()
        sketch.diagram = try drawn(sketch, over: sketch.diagram)
        #expect(try sketch.findings() == [])
        #expect(try drawn(sketch, over: sketch.diagram) == sketch.diagram)
    }

    @Test func eachTargetBecomesARingWithoutADiagram() throws {
        var sketch = Sketch().with("import Dispatch", in: "Tests/AdaptersTests/UserRowTests.swift")
            .declaring(.product("Wire", package: "wires", aliases: []), in: "App")
            .declaring(.target("Core"), in: "AdaptersTests")
            .with("import Core", in: "Tests/AdaptersTests/UserRowTests.swift")
            .with("import Wire", in: "Sources/App/App.swift")
        sketch.targets.append(TargetDescription(name: "odd name", dependencies: [.target("Core")]))
        sketch.targets.append(TargetDescription(name: "Checks", kind: .test, dependencies: [.target("Core")]))
        sketch.sources["Sources/odd name/A.swift"] = "import Core"
        sketch.sources["Tests/Checks/A.swift"] = "import Core"
        sketch.diagram = try drawn(sketch, over: "# Ours\n\nText.\n\n")
        #expect(
            sketch.diagram == """
                # Ours

                Text.

                ## Layers

                ```mermaid
                flowchart LR
                    Adapters["Adapters<br/>imports: FoundationEssentials else Foundation, Synchronization<br/>tests import: Dispatch"]
                    App["App<br/>packages: wires"]
                    Core["Core"]
                    Support["Support"]
                    odd_name["odd_name<br/>targets: odd name"]
                    Checks["Checks"]
                    Adapters --> Core
                    App --> Adapters
                    odd_name --> Core
                    Checks --> Core
                    Adapters -.-> Support
                ```

                """
        )
        #expect(try sketch.findings() == [])
    }

    @Test func namesSubgraphsAndStylesAreKept() throws {
        let markdown = """
            # Architecture
            ```mermaid
            flowchart TB
                %% from the inside out
                subgraph inner
                    Core["The middle<br/>targets: Core<br/>imports: Foundation"]
                end
                Gone --> Core
                Adapters --> Core
                style Core fill:#fff
            ```
            The end.
            """
        #expect(
            try drawn(Sketch(), over: markdown) == """
                # Architecture
                ```mermaid
                flowchart TB
                    %% from the inside out
                    subgraph inner
                    Core["The middle<br/>targets: Core"]
                    end
                    Adapters["Adapters<br/>imports: FoundationEssentials else Foundation, Synchronization"]
                    style Core fill:#fff
                    App["App"]
                    Support["Support"]
                    Adapters --> Core
                    App --> Adapters
                    Adapters -.-> Support
                ```
                The end.
                """
        )
    }

    @Test func unconditionalTestImportIsDrawnForTests() throws {
        var sketch = Sketch().with("import Foundation", in: "Tests/AdaptersTests/UserRowTests.swift")
        sketch.diagram = try drawn(sketch, over: sketch.diagram)
        #expect(sketch.diagram.contains("else Foundation<br/>tests import: Foundation"))
        #expect(try sketch.findings() == [])
    }

    @Test func orderOfPermissionsIsKept() throws {
        var sketch = Sketch()
        sketch.sources["Sources/Support/Example.swift"] = """
            #if canImport(Glibc)
            import Glibc
            #elseif canImport(Musl)
            import Musl
            #else
            import Darwin
            #endif
            import Dispatch
            """
        sketch = sketch.drawing("Support[\"Support<br/>imports: Gone, Dispatch, Glibc else Musl else Darwin\"]")
        sketch.diagram = try drawn(sketch, over: sketch.diagram)
        #expect(sketch.diagram.contains("Support[\"Support<br/>imports: Dispatch, Glibc else Musl else Darwin\"]"))
    }

    @Test func ringStaysInItsSubgraph() throws {
        var sketch = Sketch()
        sketch.diagram = """
            ```mermaid
            graph
            App --> Adapters
            subgraph inner
            Core
            end
            subgraph outer
            App
            end
            Adapters --> Core
            Support
            ```
            """
        let drawn = try drawn(sketch, over: sketch.diagram)
        #expect(
            drawn.split(separator: "\n").map { $0.prefix { $0 != "[" } } == [
                "```mermaid", "graph", "    Adapters", "subgraph inner", "    Core", "end", "subgraph outer", "    App",
                "end",
                "    Support", "    App --> Adapters", "    Adapters --> Core", "    Adapters -.-> Support", "```",
            ]
        )
    }

    @Test func targetsOfARingThatUseEachOtherGetAnArrowToItself() throws {
        var sketch = Sketch().declaring(.target("Core2"), in: "Core").with(
            "import Core2",
            in: "Sources/Core/Users/User.swift"
        )
        .drawing("Core[\"targets: Core, Core2\"]")
        sketch.targets.append(TargetDescription(name: "Core2"))
        sketch.sources["Sources/Core2/A.swift"] = ""
        sketch.diagram = try drawn(sketch, over: sketch.diagram)
        #expect(sketch.diagram.contains("    Core --> Core\n"))
        #expect(try sketch.findings() == [])
    }

    @Test func linksAndIncludesAreDrawn() throws {
        var sketch = Sketch()
        sketch.targets.append(
            TargetDescription(
                name: "CWire",
                kind: .other,
                language: .c,
                sources: ["wire.c"],
                settings: [
                    BuildSetting(.linkedLibrary("z"), for: .linker, isConditional: true),
                    BuildSetting(.linkedFramework("Security"), for: .linker),
                    BuildSetting(.unsafeFlags(["-g"]), for: .c),
                ]
            )
        )
        sketch.sources["Sources/CWire/wire.c"] = "#include <unistd.h>\n#include <curl/curl.h>\n#include <stdio.h>"
        sketch.diagram = try drawn(sketch, over: sketch.diagram)
        #expect(
            sketch.diagram.contains(
                "CWire<br/>imports: Glibc else Musl else Darwin, curl<br/>links: Security, z<br/>unsafe flags: c\"]"
            )
        )
        #expect(try sketch.findings() == [])
        sketch.diagram = sketch.diagram.replacing("links: Security, z", with: "links: z, gone, Security")
            .replacing("imports: Glibc else Musl else Darwin, curl", with: "imports: curl, Darwin, Gone")
        #expect(try drawn(sketch, over: sketch.diagram).contains("imports: curl, Darwin<br/>links: z, Security<br/>"))
    }
}
