/// The rings of a package and the allowed dependencies between them, drawn as a Mermaid flowchart.
///
/// ```swift
/// let page = "```mermaid\nflowchart LR\n    Adapters --> Core\n```\n"
/// let diagram = try LayerDiagram(markdown: page, file: "Architecture.md")
/// print(diagram.rings.map(\.name))  // ["Adapters", "Core"]
/// ```
///
/// Each node is a ring. Its label can name its targets and the system modules that they may import:
///
/// ```mermaid
/// flowchart LR
///     Adapters["Adapters<br/>imports: Synchronization, FoundationEssentials else Foundation"]
///     Adapters --> Core
///     Adapters -.-> TestSupport
/// ```
///
/// An arrow `-->` means that the ring may use the other one. An arrow `-.->` means that only the ring's tests may.
public struct LayerDiagram: Sendable {
    /// The path of the diagram's file, relative to the package root.
    public let file: String
    /// The rings, in drawing order.
    public let rings: [Ring]
    /// The edges, in drawing order.
    public let edges: [Edge]
    /// Notes about the file's other flowcharts, which are ignored.
    public let notes: [Note]

    /// The lines of the block in the file, starting after the opening fence, or `nil` if the diagram is not in a file yet.
    let lineRange: Range<Int>?
    /// The names of the rings, and the statements that are neither rings nor arrows, in the order of the block.
    let statements: [DiagramStatement]
    private let ringLines: [String: Int]
    private let edgeLines: [Edge: Int]

    /// Creates a diagram from a flowchart in a Markdown file.
    ///
    /// - Parameters:
    ///   - markdown: The file's text.
    ///   - file: The file's path relative to the package root, for messages.
    ///   - heading: The heading above the flowchart, or `nil` to read the first flowchart of the file.
    /// - Throws: A ``DiagramError`` if there is no such flowchart, if it has a syntax error, if it has no rings, or if its
    ///   arrows form a cycle.
    public init(markdown: String, file: String, under heading: String? = nil) throws(DiagramError) {
        let block = try Self.block(of: markdown, file, heading)
        var reader = DiagramReader()
        for (index, line) in block.lines.enumerated() {
            // Strip the block's own indentation.
            let indentation = line.prefix(block.indentation).prefix { $0 == " " }.count
            try reader.read(String(line.dropFirst(indentation)), number: block.firstLine + index)
        }
        try reader.finish()
        guard !reader.rings.isEmpty else {
            throw DiagramError(line: block.firstLine, "The diagram has no ring, so there is nothing to check.")
        }
        self.file = file
        notes = Self.notes(on: markdown, file, besides: block)
        rings = reader.rings
        edges = reader.edges
        ringLines = reader.ringLines
        edgeLines = reader.edgeLines
        statements = reader.statements
        lineRange = block.firstLine..<(block.firstLine + block.lines.count)
        try rejectCycles()
        try rejectSharedTargets()
    }

    /// Creates a diagram that is not in a file yet.
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

    /// Returns whether a Markdown text contains a flowchart.
    public static func isDrawn(in markdown: String) -> Bool {
        MermaidBlock.all(in: markdown).contains(where: \.isFlowchart)
    }

    /// Returns the location of a ring in the diagram's file.
    func location(of ring: Ring) -> SourceLocation {
        SourceLocation(file: file, line: ringLines[ring.name] ?? 1)
    }

    /// Returns the location of an edge in the diagram's file.
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
                throw DiagramError("There is no Mermaid flowchart in \(file). Draw the rings in a ```mermaid block.")
            }
            return first
        }
        guard let found = flowcharts.first(where: { $0.heading.lowercased() == heading.lowercased() }) else {
            throw DiagramError("There is no Mermaid flowchart under the heading “\(heading)” in \(file).")
        }
        return found
    }

    /// Returns a note for each other flowchart, because a reader may mistake it for the contract.
    private static func notes(on markdown: String, _ file: String, besides block: MermaidBlock) -> [Note] {
        MermaidBlock.all(in: markdown).filter { $0.isFlowchart && $0.firstLine != block.firstLine }.map { other in
            Note(
                location: SourceLocation(file: file, line: other.firstLine - 1),
                message: "This Mermaid flowchart is ignored. The contract is the flowchart at line "
                    + "\(block.firstLine - 1). To choose another one, pass `--block HEADING`."
            )
        }
    }

    private func rejectSharedTargets() throws(DiagramError) {
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

    /// Throws if the arrows form a cycle. An arrow from a ring to itself is allowed: it lets the ring's targets use each other.
    private func rejectCycles() throws(DiagramError) {
        let arrows = edges.filter { $0.user == .ring && $0.source != $0.destination }
        let graph = Graph(Dictionary(grouping: arrows, by: \.source).mapValues { $0.map(\.destination) })
        guard let cycle = graph.cycle(), let first = cycle.first else { return }
        let line = arrows.first { $0.source == first && cycle.contains($0.destination) }.flatMap { edgeLines[$0] }
        throw DiagramError(
            line: line,
            "The arrows form a cycle: \((cycle + [first]).joined(separator: " → ")). Layers must not use each other in a cycle."
        )
    }
}

/// An edge of the diagram, from a ring to a ring that it may use.
///
/// ```swift
/// func mayUse(_ source: String, _ destination: String, in diagram: LayerDiagram) -> Bool {
///     diagram.edges.contains(Edge(from: source, to: destination))
/// }
/// ```
public struct Edge: Hashable, Sendable {
    /// The targets that an edge applies to.
    public enum User: Hashable, Sendable {
        /// The ring's targets and its tests, drawn as `-->`.
        case ring
        /// Only the ring's tests, drawn as `-.->`.
        case testsOfRing
    }

    /// The ring that the edge starts from, which may use the destination.
    public let source: String
    /// The ring that the source may use.
    public let destination: String
    /// The targets of the source that the edge applies to.
    public let user: User

    /// Creates an edge from one ring to another.
    public init(from source: String, to destination: String, for user: User = .ring) {
        self.source = source
        self.destination = destination
        self.user = user
    }
}

extension Edge: CustomStringConvertible {
    /// The edge as it appears in findings, such as `Adapters → Core`.
    public var description: String { "\(source) → \(destination)" }
}

/// An error that makes a diagram unusable as a contract.
///
/// ```swift
/// func diagram(in page: String) -> LayerDiagram? {
///     do {
///         return try LayerDiagram(markdown: page, file: "Architecture.md")
///     } catch {
///         print("Architecture.md:\(error.line ?? 1): \(error.explanation)")
///         return nil
///     }
/// }
/// ```
public struct DiagramError: Error, Hashable, Sendable {
    /// The line in the file, starting at 1, or `nil` if the error concerns the whole file.
    public let line: Int?
    /// The problem and how to fix it, in sentences.
    public let explanation: String

    init(line: Int? = nil, _ explanation: String) {
        self.line = line
        self.explanation = explanation
    }
}

extension DiagramError: CustomStringConvertible {
    /// The explanation, prefixed with the line if there is one.
    public var description: String { line.map { "line \($0): \(explanation)" } ?? explanation }
}

/// A remark for the readers of a report. Notes do not fail the check.
///
/// ```swift
/// func printNotes(of report: LayerReport) {
///     for note in report.notes { print("\(note.location): \(note.message)") }
/// }
/// ```
public struct Note: Hashable, Sendable {
    /// The location that the note is about.
    public let location: SourceLocation
    /// The message, in one or two sentences.
    public let message: String

    /// Creates a note.
    public init(location: SourceLocation, message: String) {
        self.location = location
        self.message = message
    }
}

/// A directed graph of names.
struct Graph {
    private var neighbors: [String: Set<String>]

    init(_ neighbors: [String: [String]]) {
        self.neighbors = neighbors.mapValues(Set.init)
    }

    /// Removes an edge.
    mutating func remove(_ source: String, _ destination: String) {
        neighbors[source]?.remove(destination)
    }

    /// Returns a short cycle, or `nil` if the graph has no cycle.
    ///
    /// - Complexity: O(nodes + edges), not counting the sorting of names.
    func cycle() -> [String]? {
        guard let node = nodeInCycle() else { return nil }
        // Breadth-first search, visiting each node once. The first path that leads back to the start is a shortest cycle.
        var previous: [String: String] = [:]
        var waiting = [node]
        while !waiting.isEmpty {
            var further: [String] = []
            for name in waiting {
                for next in (neighbors[name] ?? []).sorted() {
                    if next == node { return way(to: name, previous) }
                    guard previous[next] == nil else { continue }
                    previous[next] = name
                    further.append(next)
                }
            }
            waiting = further
        }
        return nil
    }

    private func way(to node: String, _ previous: [String: String]) -> [String] {
        var way = [node]
        while let before = previous[way[way.count - 1]] { way.append(before) }
        return way.reversed()
    }

    /// Returns a node that can reach itself. After nodes without outgoing edges are removed repeatedly, a walk among the
    /// remaining nodes must meet a node twice.
    private func nodeInCycle() -> String? {
        var remaining = neighbors.filter { !$0.value.isEmpty }
        var ends = Set(neighbors.values.flatMap(\.self)).subtracting(remaining.keys)
        var users: [String: [String]] = [:]
        for (user, used) in remaining { for name in used { users[name, default: []].append(user) } }
        // A node without outgoing edges is not part of a cycle. Neither is a node that leads only to such nodes.
        while let end = ends.popFirst() {
            for user in users[end] ?? [] {
                remaining[user]?.remove(end)
                if remaining[user]?.isEmpty == true {
                    remaining[user] = nil
                    ends.insert(user)
                }
            }
        }
        guard var node = remaining.keys.min() else { return nil }
        var seen: Set<String> = []
        while seen.insert(node).inserted, let next = remaining[node]?.min() { node = next }
        return node
    }
}
