/// The rings of a package and who may use whom, as a Mermaid flowchart draws them.
///
/// A node is a ring. Its label can name its targets and what they may import:
///
/// ```mermaid
/// flowchart LR
///     Adapters["Adapters<br/>imports: Synchronization, FoundationEssentials else Foundation"]
///     Adapters --> Core
///     Adapters -.-> TestSupport
/// ```
///
/// An arrow `-->` means *may use*, and `-.->` that only the tests of the ring may.
public struct LayerDiagram: Sendable {
    /// The file that the diagram was read from, by its path from the package's root.
    public let file: String
    /// The rings, in the order in which they are drawn.
    public let rings: [Ring]
    /// The arrows, in the order in which they are drawn.
    public let edges: [Edge]
    /// The other flowcharts of the file, which are not read.
    public let notes: [Note]

    /// Where the block stands in the file, from its first line behind the fence; `nil` if it is in no file yet.
    let lineRange: Range<Int>?
    /// The statements that are neither rings nor arrows, or the names of rings, in the order of the block.
    let statements: [DiagramStatement]
    private let ringLines: [String: Int]
    private let edgeLines: [Edge: Int]

    /// Reads the diagram of a Markdown file.
    ///
    /// - Parameters:
    ///   - markdown: the file's text.
    ///   - file: the file's path from the package's root, for messages.
    ///   - heading: the heading that the block stands under; without it, the first flowchart of the file is read.
    /// - Throws: a ``DiagramError`` if there is no such block, if a line of it is not understood, if it has no ring, or
    ///   if its arrows go round in a circle.
    public init(markdown: String, file: String, under heading: String? = nil) throws(DiagramError) {
        let block = try Self.block(of: markdown, file, heading)
        var reader = DiagramReader()
        for (index, line) in block.lines.enumerated() {
            // The block's own indentation is no part of what it says.
            let indentation = line.prefix(block.indentation).prefix { $0 == " " }.count
            try reader.read(String(line.dropFirst(indentation)), number: block.firstLine + index)
        }
        try reader.finish()
        guard !reader.rings.isEmpty else {
            throw DiagramError(line: block.firstLine, "The diagram has no ring. An empty contract holds nobody to it.")
        }
        self.file = file
        notes = Self.notes(on: markdown, file, besides: block)
        rings = reader.rings
        edges = reader.edges
        ringLines = reader.ringLines
        edgeLines = reader.edgeLines
        statements = reader.statements
        lineRange = block.firstLine..<(block.firstLine + block.lines.count)
        try refuseCircles()
        try refuseSharedTargets()
    }

    /// A diagram that is in no file yet.
    init(file: String, rings: [Ring], edges: [Edge]) {
        self.file = file
        self.rings = rings
        self.edges = edges
        notes = []
        lineRange = nil
        statements = []
        ringLines = [:]
        edgeLines = [:]
    }

    /// Whether a Markdown text has a flowchart.
    public static func isDrawn(in markdown: String) -> Bool {
        MermaidBlock.all(in: markdown).contains(where: \.isFlowchart)
    }

    /// Where a ring is drawn.
    func location(of ring: Ring) -> SourceLocation {
        SourceLocation(file: file, line: ringLines[ring.name] ?? 1)
    }

    /// Where an arrow is drawn.
    func location(of edge: Edge) -> SourceLocation {
        SourceLocation(file: file, line: edgeLines[edge] ?? 1)
    }

    private static func block(
        of markdown: String,
        _ file: String,
        _ heading: String?
    ) throws(DiagramError) -> MermaidBlock {
        let flowcharts = MermaidBlock.all(in: markdown).filter(\.isFlowchart)
        guard let heading else {
            guard let first = flowcharts.first else {
                throw DiagramError("There is no Mermaid flowchart in \(file). Draw the rings in a block ```mermaid.")
            }
            return first
        }
        guard let found = flowcharts.first(where: { $0.heading.lowercased() == heading.lowercased() }) else {
            throw DiagramError("There is no Mermaid flowchart under the heading “\(heading)” of \(file).")
        }
        return found
    }

    /// A reader may take every flowchart for the contract; only one of them is.
    private static func notes(on markdown: String, _ file: String, besides block: MermaidBlock) -> [Note] {
        MermaidBlock.all(in: markdown).filter { $0.isFlowchart && $0.firstLine != block.firstLine }.map { other in
            Note(
                location: SourceLocation(file: file, line: other.firstLine - 1),
                message: "This Mermaid flowchart is ignored. The rings are those of the flowchart at line "
                    + "\(block.firstLine - 1); choose another one by `--block HEADING`."
            )
        }
    }

    private func refuseSharedTargets() throws(DiagramError) {
        var owners: [String: String] = [:]
        for ring in rings {
            for target in ring.targets + ring.testTargets {
                if let owner = owners.updateValue(ring.name, forKey: target) {
                    let line = ringLines[ring.name]
                    throw DiagramError(line: line, "The target \(target) is in \(owner) and in \(ring.name).")
                }
            }
        }
    }

    /// An arrow from a ring to itself lets its targets use each other, and is no circle.
    private func refuseCircles() throws(DiagramError) {
        let arrows = edges.filter { $0.user == .ring && $0.source != $0.destination }
        let graph = Graph(Dictionary(grouping: arrows, by: \.source).mapValues { $0.map(\.destination) })
        guard let circle = graph.circle(), let first = circle.first else { return }
        let line = arrows.first { $0.source == first && circle.contains($0.destination) }.flatMap { edgeLines[$0] }
        throw DiagramError(
            line: line,
            "The arrows go round in a circle: \((circle + [first]).joined(separator: " → ")). In layers they cannot."
        )
    }
}

/// An arrow of the diagram, from one ring to another.
public struct Edge: Hashable, Sendable {
    /// Who may use the other ring.
    public enum User: Hashable, Sendable {
        /// The ring's targets, and its tests: drawn `-->`.
        case ring
        /// The ring's tests alone: drawn `-.->`.
        case testsOfRing
    }

    /// The ring that uses.
    public let source: String
    /// The ring that is used.
    public let destination: String
    /// Whose arrow it is.
    public let user: User

    /// An arrow from one ring to another.
    public init(from source: String, to destination: String, for user: User = .ring) {
        self.source = source
        self.destination = destination
        self.user = user
    }
}

extension Edge: CustomStringConvertible {
    /// The edge as findings name it.
    public var description: String { "\(source) → \(destination)" }
}

/// What keeps a diagram from being a contract.
public struct DiagramError: Error, Hashable, Sendable {
    /// The line in the file, from 1; `nil` if the whole file is meant.
    public let line: Int?
    /// What is wrong and what to do, in sentences.
    public let explanation: String

    init(line: Int? = nil, _ explanation: String) {
        self.line = line
        self.explanation = explanation
    }
}

extension DiagramError: CustomStringConvertible {
    /// What is wrong and what to do, with the line if there is one.
    public var description: String { line.map { "line \($0): \(explanation)" } ?? explanation }
}
