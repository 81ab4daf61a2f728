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
