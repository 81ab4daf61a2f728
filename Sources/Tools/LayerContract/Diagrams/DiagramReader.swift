/// Reads a flowchart line by line.
struct DiagramReader {
    private(set) var rings: [Ring] = []
    private(set) var edges: [Edge] = []
    private(set) var statements: [DiagramStatement] = []
    private(set) var ringLines: [String: Int] = [:]
    private(set) var edgeLines: [Edge: Int] = [:]
    private var labelled: Set<String> = []
    /// The frames around rings, those that are open, and the rings that are placed in one.
    private var frames: Set<String> = []
    private var openFrames = 0
    private var framed: Set<String> = []
    private var passage = DiagramPassage()

    /// What Mermaid knows besides nodes and arrows, by the first word of a statement.
    private static let ignored: Set<String> = [
        "flowchart", "flowchart-elk", "graph", "subgraph", "end", "direction", "classDef", "class", "style",
        "linkStyle",
        "click", "accTitle", "accTitle:", "accDescr", "accDescr:",
    ]

    /// Reads the next line.
    mutating func read(_ text: String, number: Int) throws(DiagramError) {
        if passage.takes(text.trimmed, isAtTop: rings.isEmpty && statements.isEmpty) {
            statements.append(.verbatim(text))
            return
        }
        let pieces = Self.pieces(of: text)
        for piece in pieces {
            let words = piece.words
            guard let first = words.first, !first.hasPrefix("%%") else { continue }
            if Self.ignored.contains(first) {
                // As the name of a ring, such a word would take its arrow with it.
                guard words.count == 1 || !["-", "=", "&", "~"].contains(where: words[1].hasPrefix) else {
                    throw DiagramError(line: number, "“\(first)” is a word of Mermaid and cannot name a ring.")
                }
                if first == "subgraph" { openFrame(words.dropFirst().first) }
                if first == "end" { openFrames -= 1 }
                statements.append(.verbatim(pieces.count == 1 ? text : piece))
            } else {
                let line = try FlowchartLine(piece, number: number)
                for node in line.nodes { try add(node, number) }
                for edge in line.edges { try add(edge, number) }
            }
        }
        if text.trimmed.hasPrefix("%%") { statements.append(.verbatim(text)) }
    }

    /// Ends the diagram.
    ///
    /// - Throws: a ``DiagramError`` for what is opened and not closed, and for an arrow to a frame: who is meant by it?
    func finish() throws(DiagramError) {
        if let end = passage.end {
            throw DiagramError("The diagram opens what “\(end)” would close, and nothing does.")
        }
        guard let ring = rings.first(where: { frames.contains($0.name) }) else { return }
        throw DiagramError(
            line: ringLines[ring.name],
            "\(ring.name) is a frame around rings. Draw the arrow to a ring in it."
        )
    }

    /// The statements of a line, which semicolons end that are in no label.
    private static func pieces(of line: String) -> [String] {
        if line.trimmed.hasPrefix("%%") { return [] }
        var pieces = [""]
        var isQuoted = false
        var depth = 0
        for character in line {
            if character == "\"" { isQuoted.toggle() }
            if !isQuoted, character == "|" { depth += depth == 0 ? 1 : -1 }
            if !isQuoted, "[({".contains(character) { depth += 1 }
            if !isQuoted, "])}".contains(character) { depth -= 1 }
            if character == ";", !isQuoted, depth <= 0 {
                pieces.append("")
            } else {
                pieces[pieces.count - 1].append(character)
            }
        }
        return pieces.filter { !$0.trimmed.isEmpty }
    }

    private mutating func openFrame(_ name: String?) {
        openFrames += 1
        if let name { frames.insert(String(name.prefix { $0 != "[" })) }
    }

    private mutating func add(_ node: FlowchartLine.Node, _ number: Int) throws(DiagramError) {
        if ringLines[node.name] == nil {
            rings.append(Ring(node.name))
            ringLines[node.name] = number
            statements.append(.ring(node.name))
        }
        // Mermaid draws a ring in the frame in which it is mentioned.
        if openFrames > 0, framed.insert(node.name).inserted {
            statements.removeAll { $0 == .ring(node.name) }
            statements.append(.ring(node.name))
        }
        guard let label = node.label else { return }
        guard labelled.insert(node.name).inserted else {
            throw DiagramError(line: number, "\(node.name) has a label already.")
        }
        let ring = try Ring(node.name, label: RingLabel(label, line: number), line: number)
        rings = rings.map { $0.name == node.name ? ring : $0 }
        ringLines[node.name] = number
    }

    private mutating func add(_ edge: Edge, _ number: Int) throws(DiagramError) {
        guard edgeLines.updateValue(number, forKey: edge) == nil else {
            throw DiagramError(line: number, "The arrow \(edge) is drawn twice.")
        }
        edges.append(edge)
    }
}

/// A line of a diagram that has its place in it.
enum DiagramStatement: Hashable {
    /// The ring of this name is drawn here.
    case ring(String)
    /// Something that means nothing to the contract: a comment, a style, a frame around rings.
    case verbatim(String)
}

/// What goes on over several lines of a diagram and means nothing to the contract: front matter, a directive, a
/// description.
struct DiagramPassage {
    /// What ends the passage that is open; `nil` if none is.
    private(set) var end: String?

    /// Whether the next line, without the white space around it, belongs to a passage.
    ///
    /// - Parameters:
    ///   - line: the line.
    ///   - isAtTop: whether nothing stands above it, where `---` opens front matter.
    /// - Returns: whether it begins one, ends one, or stands in one.
    mutating func takes(_ line: String, isAtTop: Bool) -> Bool {
        if let end {
            if line.hasSuffix(end) { self.end = nil }
            return true
        }
        if line == "---", isAtTop {
            end = "---"
        } else if line.hasPrefix("%%{"), !line.hasSuffix("}%%") {
            end = "}%%"
        } else if line.hasPrefix("accDescr"), !line.hasPrefix("accDescr:"), line.hasSuffix("{") {
            end = "}"
        }
        return end != nil
    }
}
