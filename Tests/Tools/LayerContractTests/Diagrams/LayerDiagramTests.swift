import LayerContract
import Testing

struct LayerDiagramTests {
    private func diagram(_ lines: String...) throws(DiagramError) -> LayerDiagram {
        try LayerDiagram(
            markdown: "# A\n\n```mermaid\nflowchart LR\n\(lines.joined(separator: "\n"))\n```\n",
            file: "A.md"
        )
    }

    @Test func arrowsDefineRingsAndEdges() throws {
        let diagram = try diagram("App --> Core & Adapters --> Base", "Core -.-> Support;App ==> Base")
        #expect(diagram.rings.map(\.name) == ["App", "Core", "Adapters", "Base", "Support"])
        #expect(
            diagram.edges == [
                Edge(from: "App", to: "Core"), Edge(from: "App", to: "Adapters"),
                Edge(from: "Core", to: "Base"), Edge(from: "Adapters", to: "Base"),
                Edge(from: "Core", to: "Support", for: .testsOfRing), Edge(from: "App", to: "Base"),
            ]
        )
    }

    @Test(arguments: [
        "A --> B", "A-->B", "A ---> B", "A -->|uses| B", "A -- uses --> B", "A == uses ==> B", "A[one] --> B(two)",
        #"A["one"] --> B[["two"]]"#, "A:::fat --> B:::thin", "A{{one}} --> B[(two)]", "A([one]) --> B((two))",
        "A -- \"uses (a --> b)\" --> B", "A --> B;", "A[\"Layer 1: a\"] --> B",
        "A; B; A --> B", "A ~~~ B; A --> B", "A[\"a; b\"] --> B", "A[a; b] --> B",
        "A --> |uses| B", "A -->|x; y| B", "A --text--> B", "A ==text==> B", "A --\"x\"--> B",
    ])
    func allMermaidFormsOfAnArrowAreRead(line: String) throws {
        let diagram = try diagram(line)
        #expect(diagram.rings.map(\.name) == ["A", "B"])
        #expect(diagram.edges == [Edge(from: "A", to: "B")])
    }

    @Test(arguments: ["A -.-> B", "A -..-> B", "A-.->B", "A -. tests .-> B"])
    func dottedArrowIsForTests(line: String) throws {
        #expect(try diagram(line).edges == [Edge(from: "A", to: "B", for: .testsOfRing)])
    }

    @Test func namesCanContainHyphens() throws {
        #expect(try diagram("check-layers --> my.core").edges == [Edge(from: "check-layers", to: "my.core")])
        #expect(try diagram("check-layers-->core").edges == [Edge(from: "check-layers", to: "core")])
    }

    @Test func labelGivesPermissions() throws {
        let ring = try #require(
            try diagram(
                #"A["Ring four<br/>targets: A, A2<br/>tests: Checks<br/>imports: Glibc else Musl else Darwin, Foundation"#
                    + #"<br>tests import: Dispatch\npackages: swift-nio (NIOCore, NIOPosix), GRDB.swift"#
                    + #"<br/>tests use packages: mocks<br/>links: vips, Security<br/>unsafe flags: cxx, linker"]"#
            ).rings.first
        )
        #expect(ring.title == "Ring four")
        #expect(ring.targets == ["A", "A2"])
        #expect(ring.testTargets == ["Checks"])
        #expect(
            ring.imports == [
                SystemModule("Glibc"), SystemModule("Musl", inPlaceOf: "Glibc"),
                SystemModule("Darwin", inPlaceOf: "Glibc"), SystemModule("Foundation"),
            ]
        )
        #expect(ring.testImports == [SystemModule("Dispatch")])
        #expect(
            ring.packages == [PackageUse("swift-nio", modules: ["NIOCore", "NIOPosix"]), PackageUse("GRDB.swift")]
        )
        #expect(ring.testPackages == [PackageUse("mocks")])
        #expect(ring.links == ["vips", "Security"])
        #expect(ring.unsafeFlags == [.cxx, .linker])
    }

    @Test func otherFlowchartsAreNoted() throws {
        let markdown = """
            # One
            ```mermaid
            graph LR
            A --> B
            ```
            # Two
            ```mermaid
            flowchart TD
            B --> A
            ```
            ```mermaid
            sequenceDiagram
            A->>B: hello
            ```
            <!--
            ```mermaid
            graph LR
            ```
            -->
            """
        #expect(
            try LayerDiagram(markdown: markdown, file: "A.md").notes == [
                Note(
                    location: SourceLocation(file: "A.md", line: 7),
                    message:
                        "This Mermaid flowchart is ignored. The contract is the flowchart at line 2. To choose another "
                        + "one, pass `--block HEADING`."
                )
            ]
        )
        #expect(try LayerDiagram(markdown: markdown, file: "A.md", under: "Two").notes.map(\.location.line) == [2])
        var sketch = Sketch()
        sketch.diagram += "\n```mermaid\ngraph LR\nCore --> App\n```"
        let report = try sketch.report()
        #expect(report.findings == [])
        #expect(report.notes.map(\.location.line) == [10])
    }

    @Test func otherStatementsOfAFlowchartAreSkipped() throws {
        let diagram = try diagram(
            "%% a comment --> of ours",
            "subgraph inner [The inner rings]",
            "direction TB",
            "A --> B",
            "end",
            "classDef fat stroke:#000",
            "class A fat",
            "style B fill:#fff",
            "linkStyle 0 stroke:red",
            "",
            "click A href \"x\""
        )
        #expect(diagram.rings.map(\.name) == ["A", "B"])
    }

    @Test func multilineBlocksAreSkipped() throws {
        let head = "%%{init: {\n'theme': 'x --> y'\n}}%%\nflowchart-elk LR; A --> B\naccTitle: Our rings --> yours\n"
        let markdown = "```mermaid\n\(head)accDescr {\nA <-- B\n}\nB --> C\n```"
        #expect(try LayerDiagram(markdown: markdown, file: "A.md").rings.map(\.name) == ["A", "B", "C"])
    }

    @Test(arguments: ["%%{init:", "accDescr {"])
    func unclosedBlockIsAnError(line: String) {
        #expect(throws: DiagramError.self) { try diagram("A --> B", line, "B --> C") }
    }

    @Test func similarLineIsNotABlock() throws {
        #expect(try diagram("A --> B", "accDescr: what A uses {", "B --> C").edges.count == 2)
        #expect(throws: DiagramError.self) { try diagram("A --> B", "---", "B --> C", "---") }
    }

    @Test func flowchartInACommentIsIgnored() throws {
        let hidden = "<!-- so:\n```mermaid\ngraph\nA\n```\n-->\n```mermaid\ngraph\nB\n```"
        #expect(try LayerDiagram(markdown: hidden, file: "A.md").rings.map(\.name) == ["B"])
        #expect(try LayerDiagram(markdown: "A --> B \(hidden)", file: "A.md").rings.map(\.name) == ["B"])
    }

    @Test func fenceEndsWithTheSameNumberOfMarks() throws {
        let markdown = "````markdown\n```mermaid\ngraph\nA\n```\n````\n```mermaid\ngraph\nB\n```"
        #expect(try LayerDiagram(markdown: markdown, file: "A.md").rings.map(\.name) == ["B"])
    }

    @Test func frontMatterIsSkipped() throws {
        let markdown = "```mermaid\n---\ntitle: x --> y\n---\nflowchart TD\nA --> B\n```"
        #expect(try LayerDiagram(markdown: markdown, file: "A.md").rings.map(\.name) == ["A", "B"])
    }

    @Test(arguments: [
        ("A --- B", "is not valid here"), ("A <--> B", "is not valid here"), ("A --o B", "is not valid here"),
        ("A --x B", "is not valid here"), ("A --x B --> C", "“--x B"), ("A --o B --> C", "“--o B"),
        ("A --- B --> C", "“--- B"), ("A -- uses --- B --> C", "“-- uses"), ("A -.- B --> C", "“-.- B"),
        ("A -> B", "“-> B"),
        ("A => B", "“=> B"),
        ("style --> B", "“style” is a Mermaid keyword"), ("end --> B", "“end” is a Mermaid keyword"),
        ("A -- \"--> x\" B", "is not valid here"), ("A -->", "the end of the line"),
        ("--> B", "is not valid here"),
        ("A[\"open", "is not closed"), ("A -->|open B", "is not closed"),
        ("A[\"A<br/>import: Foundation\"]", "A label cannot have a line “import:”"),
        ("A[\"imports:\"]", "needs one or more names"),
        ("A[\"imports: X,\"]", "needs one or more names"), ("A[\"imports: X or Y\"]", "“X or Y” is not a module"),
        ("A[\"imports: X else\"]", "“X else” is not a module"), ("A[\"packages: (X)\"]", "is not a package"),
        ("A[\"imports: X<br/>imports: Y\"]", "“imports:” twice"), ("A[\"one\"]; A[\"two\"]", "already has a label"),
        ("A --> B; A --> B", "drawn twice"), ("A --> B --> C --> A", "form a cycle: A → B → C → A"),
        ("A[\"targets: X\"]; B[\"targets: X\"]", "The target X is in A and in B"),
    ])
    func unreadableLineIsAnErrorWithItsNumber(line: String, explanation: String) {
        #expect {
            try diagram(line)
        } throws: { error in
            let error = error as? DiagramError
            return error?.line == 5 && error?.explanation.contains(explanation) == true
        }
    }

    @Test func arrowToASubgraphIsAnError() {
        #expect(throws: DiagramError.self) { try diagram("subgraph inner", "A", "end", "B --> inner") }
        #expect(throws: DiagramError.self) { try diagram("B --> inner", "subgraph inner", "A", "end") }
    }

    @Test func longChainIsReadInReasonableTime() throws {
        let chain = (0..<3000).map { "R\($0)" }.joined(separator: " --> ")
        #expect(try diagram(chain).edges.count == 2999)
        #expect(throws: DiagramError.self) { try diagram(chain + " --> R1500") }
    }

    @Test func cycleIsFoundAmongOtherArrows() throws {
        #expect(throws: DiagramError.self) { try diagram("X --> A", "A --> B", "B --> A", "B --> Y --> Z") }
        #expect(throws: DiagramError.self) { try diagram("M --> N", "N --> M", "M --> C --> D") }
        #expect(try diagram("X --> A --> B --> Y", "X --> B", "A --> Y").edges.count == 5)
    }

    @Test func arrowToItselfIsNotACycle() throws {
        #expect(try diagram("A --> A").edges == [Edge(from: "A", to: "A")])
        #expect(try diagram("A --> B", "B -.-> A").edges.count == 2)
    }

    @Test func diagramWithoutRingsIsAnError() {
        #expect(throws: DiagramError.self) { try diagram("%% nothing yet") }
        #expect(throws: DiagramError.self) { try LayerDiagram(markdown: "# A\n", file: "A.md") }
        #expect(throws: DiagramError.self) { try LayerDiagram(markdown: "", file: "A.md") }
    }

    @Test func firstFlowchartIsTheDiagram() throws {
        let markdown = """
            ```swift
            A --> B
            ```
            ```mermaid
            sequenceDiagram
                A->>B: hello
            ```
            ~~~~ mermaid
            graph TD
                C --> D
            ~~~~
            ```mermaid
            flowchart
                E --> F
            ```
            """
        #expect(try LayerDiagram(markdown: markdown, file: "A.md").rings.map(\.name) == ["C", "D"])
    }

    @Test func diagramCanBeChosenByItsHeading() throws {
        let markdown = "# One\n```mermaid\ngraph\nA\n```\n## The *other* one\n```mermaid\ngraph\nB\n```\n"
        #expect(
            try LayerDiagram(markdown: markdown, file: "A.md", under: "the *Other* one").rings.map(\.name) == ["B"]
        )
        #expect(throws: DiagramError.self) { try LayerDiagram(markdown: markdown, file: "A.md", under: "None") }
        let closed =
            "## Layers ##\n- as a list\n\n      ```mermaid\n      graph\n      A\n      ```\nOthers\n======\n```mermaid\ngraph\nB\n```"
        #expect(try LayerDiagram(markdown: closed, file: "A.md", under: "layers").rings.map(\.name) == ["A"])
        #expect(try LayerDiagram(markdown: closed, file: "A.md", under: "others").rings.map(\.name) == ["B"])
    }
}
