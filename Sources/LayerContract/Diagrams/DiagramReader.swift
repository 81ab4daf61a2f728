/// Reads a flowchart line by line.
struct DiagramReader {
    private(set) var rings: [Ring] = []
    private(set) var edges: [Edge] = []
    private(set) var statements: [DiagramStatement] = []
    private(set) var ringLines: [String: Int] = [:]
    private(set) var edgeLines: [Edge: Int] = [:]
    private var labelled: Set<String> = []
    private var frames: Set<String> = []
    private var isInFrontMatter = false

    /// What Mermaid knows besides nodes and arrows, by the first word of a line.
    private static let ignored: Set<String> = [
        "flowchart", "graph", "subgraph", "end", "direction", "classDef", "class", "style", "linkStyle", "click",
    ]

    /// Reads the next line.
    mutating func read(_ text: String, number: Int) throws(DiagramError) {
        let line = text.trimmed
        if line == "---", isInFrontMatter || (rings.isEmpty && statements.isEmpty) {
            isInFrontMatter.toggle()
            statements.append(.verbatim(text))
            return
        }
        let words = line.words
        guard let first = words.first.map({ String($0.prefix { $0 != ";" }) }), !isInFrontMatter,
            !line.hasPrefix("%%"), !Self.ignored.contains(first)
        else {
            if words.first == "subgraph", words.count > 1 {
                frames.insert(String(words[1].prefix { $0 != "[" }))
            }
            if !line.isEmpty { statements.append(.verbatim(text)) }
            return
        }
        let parsed = try FlowchartLine(line, number: number)
        for node in parsed.nodes { try add(node, number) }
        for edge in parsed.edges { try add(edge, number) }
    }

    private mutating func add(_ node: FlowchartLine.Node, _ number: Int) throws(DiagramError) {
        guard !frames.contains(node.name) else {
            throw DiagramError(line: number, "\(node.name) is a frame around rings. Draw the arrow to a ring in it.")
        }
        let isNew = ringLines[node.name] == nil
        guard let label = node.label else {
            if isNew { append(Ring(node.name), number) }
            return
        }
        guard labelled.insert(node.name).inserted else {
            throw DiagramError(line: number, "\(node.name) has a label already.")
        }
        let ring = try Ring(node.name, label: RingLabel(label, line: number), line: number)
        if let index = rings.firstIndex(where: { $0.name == node.name }) {
            rings[index] = ring
            ringLines[node.name] = number
        } else {
            append(ring, number)
        }
    }

    private mutating func append(_ ring: Ring, _ number: Int) {
        rings.append(ring)
        ringLines[ring.name] = number
        statements.append(.ring(ring.name))
    }

    private mutating func add(_ edge: Edge, _ number: Int) throws(DiagramError) {
        guard edgeLines.updateValue(number, forKey: edge) == nil else {
            throw DiagramError(line: number, "The arrow \(edge) is drawn twice.")
        }
        edges.append(edge)
    }
}
