/// A fenced Mermaid block of a Markdown file.
struct MermaidBlock {
    /// The heading that it stands under, without its marks; empty above the first one.
    let heading: String
    /// The line of its first line behind the fence, from 1.
    let firstLine: Int
    /// Its lines, without the fences.
    let lines: [String]
    /// What every line of it is indented by.
    let indentation: Int

    /// Whether it is a flowchart, by the first line that says anything.
    var isFlowchart: Bool {
        var passage = DiagramPassage()
        for line in lines.lazy.map(\.trimmed) where !line.isEmpty {
            guard !passage.takes(line, isAtTop: true), !line.hasPrefix("%%") else { continue }
            let word = line.words[0].prefix { $0 != ";" }
            return ["flowchart", "flowchart-elk", "graph"].contains(String(word))
        }
        return false
    }

    /// The Mermaid blocks of a Markdown text, from top to bottom.
    ///
    /// Fences follow CommonMark 0.31 §4.5: three or more of one mark, closed by at least as many; a block that is never
    /// closed ends with the file. They may be indented as far as a list needs it.
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
                // What readers do not see is no contract.
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

/// The line that opens a fenced block.
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
    /// The text's lines, without what ends them.
    var lines: [String] {
        split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }.map(String.init)
    }

    /// The text without the white space around it.
    var trimmed: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }

    /// What stands between white space.
    var words: [String] { split(whereSeparator: \.isWhitespace).map(String.init) }

    /// The text without this mark and white space at its end.
    func trimmingSuffix(_ mark: Character) -> String {
        var text = self[...]
        while text.last == mark { text.removeLast() }
        return String(text).trimmed
    }
}
