/// A fenced Mermaid block in a Markdown file.
struct MermaidBlock {
    /// The text of the heading above the block; empty if there is none.
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
