/// A parsed line of a flowchart: nodes with their labels, and the arrows between them.
struct FlowchartLine {
    /// A mention of a node.
    struct Node {
        let name: String
        let label: String?
    }

    private(set) var nodes: [Node] = []
    private(set) var edges: [Edge] = []

    private let number: Int
    private let characters: [Character]
    private var position = 0

    /// Parses a line such as `A["label"] --> B & C -.-> D`.
    ///
    /// - Throws: A ``DiagramError`` at the first character that the contract does not support.
    init(_ line: String, number: Int) throws(DiagramError) {
        self.number = number
        characters = Array(line)
        skip { $0.isWhitespace }
        while !isAtEnd {
            var sources = try nodeGroup()
            while !isAtEnd {
                let user = try arrow()
                let destinations = try nodeGroup()
                if let user {
                    for source in sources { edges += destinations.map { Edge(from: source, to: $0, for: user) } }
                }
                sources = destinations
            }
        }
    }

    private var isAtEnd: Bool { position == characters.count }

    private mutating func skip(while isSkipped: (Character) -> Bool) {
        while !isAtEnd, isSkipped(characters[position]) { position += 1 }
    }

    private mutating func take(_ text: String) -> Bool {
        guard characters[position...].starts(with: text) else { return false }
        position += text.count
        return true
    }

    private mutating func nodeGroup() throws(DiagramError) -> [String] {
        var names: [String] = []
        repeat {
            skip { $0.isWhitespace }
            names.append(try node())
            skip { $0.isWhitespace }
        } while take("&")
        return names
    }

    private mutating func node() throws(DiagramError) -> String {
        let start = position
        while !isAtEnd, isInName(at: position) { position += 1 }
        let name = String(characters[start..<position])
        guard !name.isEmpty else { throw notUnderstood() }
        nodes.append(Node(name: name, label: try label()))
        if take(":::") { skip { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" } }
        return name
    }

    /// Returns whether a character is part of a name. A hyphen or period is, if a letter, digit or underscore follows it.
    private func isInName(at index: Int) -> Bool {
        let character = characters[index]
        if character.isLetter || character.isNumber || character == "_" { return true }
        guard character == "-" || character == ".", index + 1 < characters.count else { return false }
        return characters[index + 1].isLetter || characters[index + 1].isNumber || characters[index + 1] == "_"
    }

    private mutating func label() throws(DiagramError) -> String? {
        guard !isAtEnd, "[({>".contains(characters[position]) else { return nil }
        skip { "[({>/\\".contains($0) }
        let isQuoted = take("\"")
        let start = position
        skip { isQuoted ? $0 != "\"" : !"])}".contains($0) }
        let text = String(characters[start..<position])
        guard !isAtEnd else { throw DiagramError(line: number, "A label is not closed.") }
        if isQuoted { position += 1 }
        guard !isAtEnd, "])}/\\".contains(characters[position]) else {
            throw DiagramError(line: number, "A label is not closed.")
        }
        skip { "])}/\\".contains($0) }
        return text
    }

    /// Parses an arrow. `-->` and `==>` are edges of the ring, `-.->` is an edge of its tests. Arrows may carry a text, which
    /// is ignored. `~~~` only affects the layout.
    private mutating func arrow() throws(DiagramError) -> Edge.User? {
        if take("~~~") {
            skip { $0 == "~" }
            return nil
        }
        let start = position
        let isDotted = take("-.")
        let shaft: Character = isDotted ? "." : characters[position]
        guard isDotted || shaft == "-" || shaft == "=" else { throw notUnderstood() }
        skip { $0 == shaft }
        let isLongEnough = isDotted || position - start > 1
        if !takeHead(isDotted) {
            // After a shaft of two characters, a text may precede the rest of the arrow.
            guard isLongEnough, position - start == 2, !isAtEnd, beginsText(characters[position]) else {
                throw notUnderstood(from: start)
            }
            skipText(upTo: isDotted ? ".-" : "\(shaft)\(shaft)")
            skip { $0 == shaft }
            guard takeHead(isDotted) else { throw notUnderstood(from: start) }
        } else if !isLongEnough {
            throw notUnderstood(from: start)
        }
        let afterArrow = position
        skip { $0.isWhitespace }
        if !take("|") {
            position = afterArrow
        } else {
            skip { $0 != "|" }
            guard take("|") else { throw DiagramError(line: number, "The text of an arrow is not closed.") }
        }
        return isDotted ? .testsOfRing : .ring
    }

    /// Returns whether a character begins an arrow's text. `--x` and `--o` are other arrows, not texts.
    private func beginsText(_ character: Character) -> Bool {
        character.isWhitespace || character == "\"" || (character.isLetter && character != "x" && character != "o")
    }

    private mutating func takeHead(_ isDotted: Bool) -> Bool { take(isDotted ? "->" : ">") }

    /// Skips a text, including whole quoted strings.
    private mutating func skipText(upTo end: String) {
        var isQuoted = false
        while !isAtEnd, isQuoted || !characters[position...].starts(with: end) {
            if characters[position] == "\"" { isQuoted.toggle() }
            position += 1
        }
    }

    private func notUnderstood(from start: Int? = nil) -> DiagramError {
        let position = start ?? position
        let isAtEnd = position == characters.count
        let rest = isAtEnd ? "the end of the line" : "“\(String(characters[position...]).prefix(40))”"
        return DiagramError(
            line: number,
            "\(rest) is not valid here. A ring is written `Name` or `Name[\"label\"]`, and an arrow `-->` "
                + "(may use) or `-.->` (its tests may use)."
        )
    }
}
