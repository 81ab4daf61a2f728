/// A line-by-line parser for Mermaid flowcharts.
struct DiagramReader {
    private(set) var rings: [Ring] = []
    private(set) var edges: [Edge] = []
    private(set) var statements: [DiagramStatement] = []
    private(set) var ringLines: [String: Int] = [:]
    private(set) var edgeLines: [Edge: Int] = [:]
    private var labeled: Set<String> = []
    /// The names of all subgraphs.
    private var frames: Set<String> = []
    /// The number of open subgraphs.
    private var openFrames = 0
    /// The rings that are placed in a subgraph.
    private var framed: Set<String> = []
    private var passage = DiagramPassage()

    /// The first words of Mermaid statements other than nodes and arrows.
    private static let ignored: Set<String> = [
        "flowchart", "flowchart-elk", "graph", "subgraph", "end", "direction", "classDef", "class", "style",
        "linkStyle",
        "click", "accTitle", "accTitle:", "accDescr", "accDescr:",
    ]

    /// Parses the next line.
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
                // If the word is used as a ring's name before an arrow, ignoring the statement would drop the arrow.
                guard words.count == 1 || !["-", "=", "&", "~"].contains(where: words[1].hasPrefix) else {
                    throw DiagramError(line: number, "“\(first)” is a Mermaid keyword and cannot name a ring.")
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

    /// Finishes the diagram.
    ///
    /// - Throws: A ``DiagramError`` for an unclosed element, or for an arrow to a subgraph, which is ambiguous.
    func finish() throws(DiagramError) {
        if let end = passage.end {
            throw DiagramError("The diagram has an unclosed passage, which must end with “\(end)”.")
        }
        guard let ring = rings.first(where: { frames.contains($0.name) }) else { return }
        throw DiagramError(
            line: ringLines[ring.name],
            "\(ring.name) is a subgraph. Draw the arrow to a ring in it instead."
        )
    }

    /// Splits a line into statements at the semicolons outside labels.
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
        // Mermaid draws a ring in the subgraph that mentions it.
        if openFrames > 0, framed.insert(node.name).inserted {
            statements.removeAll { $0 == .ring(node.name) }
            statements.append(.ring(node.name))
        }
        guard let label = node.label else { return }
        guard labeled.insert(node.name).inserted else {
            throw DiagramError(line: number, "\(node.name) already has a label.")
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

/// A statement of a diagram whose position is preserved.
enum DiagramStatement: Hashable {
    /// The position of the ring with this name.
    case ring(String)
    /// A statement without meaning for the contract: a comment, a style, or a subgraph.
    case verbatim(String)
}

/// A multiline passage of a diagram without meaning for the contract: front matter, a directive, or a description.
struct DiagramPassage {
    /// The text that ends the open passage, or `nil` if no passage is open.
    private(set) var end: String?

    /// Consumes the next line if it belongs to a passage.
    ///
    /// - Parameters:
    ///   - line: The line, without surrounding white space.
    ///   - isAtTop: Whether this is the first line, where `---` opens front matter.
    /// - Returns: Whether the line begins, continues, or ends a passage.
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

/// A fenced Mermaid block in a Markdown file.
struct MermaidBlock {
    /// The text of the heading above the block, or an empty string if there is no heading.
    let heading: String
    /// The number of the first line after the opening fence, starting at 1.
    let firstLine: Int
    /// The lines between the fences.
    let lines: [String]
    /// The indentation of the block.
    let indentation: Int

    /// Whether the block is a flowchart, judged by its first meaningful line.
    var isFlowchart: Bool {
        var passage = DiagramPassage()
        for line in lines.lazy.map(\.trimmed) where !line.isEmpty {
            guard !passage.takes(line, isAtTop: true), !line.hasPrefix("%%") else { continue }
            let word = line.words[0].prefix { $0 != ";" }
            return ["flowchart", "flowchart-elk", "graph"].contains(String(word))
        }
        return false
    }

    /// Returns the Mermaid blocks of a Markdown text, from top to bottom.
    ///
    /// Fences follow CommonMark 0.31 §4.5: at least three of the same character, closed by at least as many. An unclosed block
    /// ends with the file. Fences may be indented as deeply as a list requires.
    static func all(in markdown: String) -> [MermaidBlock] {
        var blocks: [MermaidBlock] = []
        var heading = ""
        var fence: MarkdownFence?
        var isInComment = false
        var previous = ""
        var content: (firstLine: Int, lines: [String]) = (1, [])
        for (index, line) in markdown.lines.enumerated() {
            if let open = fence {
                if open.isClosed(by: line) {
                    blocks.append(contentsOf: open.block(under: heading, content))
                    fence = nil
                } else {
                    content.lines.append(line)
                }
            } else if isInComment || line.contains("<!--") {
                // HTML comments are invisible to readers, so they are not part of the contract.
                let rest = line.ranges(of: "<!--").last.map { line[$0.upperBound...] } ?? line[...]
                isInComment = !rest.contains("-->")
            } else if let opened = MarkdownFence(opening: line) {
                fence = opened
                content = (index + 2, [])
            } else if line.hasPrefix("#") {
                heading = String(line.drop { $0 == "#" }).trimmed.trimmingSuffix("#")
            } else if !line.isEmpty, !previous.isEmpty, line.allSatisfy({ $0 == "=" }) || line.allSatisfy({ $0 == "-" })
            {
                heading = previous
            }
            previous = line.trimmed
        }
        if let fence { blocks.append(contentsOf: fence.block(under: heading, content)) }
        return blocks
    }
}

/// The opening fence of a Markdown block.
struct MarkdownFence {
    let mark: Character
    let count: Int
    let language: String
    let indentation: Int

    init?(opening line: String) {
        let rest = line.drop { $0 == " " }
        indentation = line.count - rest.count
        guard let first = rest.first, first == "`" || first == "~" else { return nil }
        mark = first
        count = rest.prefix { $0 == first }.count
        guard count >= 3 else { return nil }
        language = String(rest.dropFirst(count)).words.first ?? ""
    }

    func isClosed(by line: String) -> Bool {
        let rest = line.drop { $0 == " " }
        let marks = rest.prefix { $0 == mark }
        return marks.count >= count && String(rest.dropFirst(marks.count)).trimmed.isEmpty
    }

    func block(under heading: String, _ content: (firstLine: Int, lines: [String])) -> [MermaidBlock] {
        guard language == "mermaid" else { return [] }
        return [
            MermaidBlock(
                heading: heading,
                firstLine: content.firstLine,
                lines: content.lines,
                indentation: indentation
            )
        ]
    }
}

extension String {
    /// The lines of the text, without line endings.
    var lines: [String] {
        split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }.map(String.init)
    }

    /// The text without surrounding white space.
    var trimmed: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }

    /// The words of the text, separated by white space.
    var words: [String] { split(whereSeparator: \.isWhitespace).map(String.init) }

    /// Returns the text without trailing occurrences of the character and surrounding white space.
    func trimmingSuffix(_ mark: Character) -> String {
        var text = self[...]
        while text.last == mark { text.removeLast() }
        return String(text).trimmed
    }
}
