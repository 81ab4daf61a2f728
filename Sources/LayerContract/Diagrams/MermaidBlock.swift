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
        var isInFrontMatter = false
        for line in lines.lazy.map(\.trimmed) where !line.isEmpty && !line.hasPrefix("%%") {
            if line == "---" {
                isInFrontMatter.toggle()
            } else if !isInFrontMatter {
                let word = line.words[0].prefix { $0 != ";" }
                return word == "flowchart" || word == "graph"
            }
        }
        return false
    }

    /// The Mermaid blocks of a Markdown text, from top to bottom.
    ///
    /// Fences follow CommonMark 0.31 §4.5: three or more of one mark, indented by at most three spaces, and closed by
    /// at least as many. A block that is never closed ends with the file.
    static func all(in markdown: String) -> [MermaidBlock] {
        var blocks: [MermaidBlock] = []
        var heading = ""
        var fence: Fence?
        var content: (firstLine: Int, lines: [String]) = (1, [])
        for (index, line) in markdown.lines.enumerated() {
            if let open = fence {
                if open.isClosed(by: line) {
                    blocks.append(contentsOf: open.block(under: heading, content))
                    fence = nil
                } else {
                    content.lines.append(line)
                }
            } else if let opened = Fence(opening: line) {
                fence = opened
                content = (index + 2, [])
            } else if line.hasPrefix("#") {
                heading = String(line.drop { $0 == "#" }).trimmed
            }
        }
        if let fence { blocks.append(contentsOf: fence.block(under: heading, content)) }
        return blocks
    }
}

/// The line that opens a fenced block.
private struct Fence {
    let mark: Character
    let count: Int
    let language: String
    let indentation: Int

    init?(opening line: String) {
        let rest = line.drop { $0 == " " }
        indentation = line.count - rest.count
        guard indentation < 4, let first = rest.first, first == "`" || first == "~" else { return nil }
        mark = first
        count = rest.prefix { $0 == first }.count
        guard count >= 3 else { return nil }
        language = String(rest.dropFirst(count)).words.first ?? ""
    }

    func isClosed(by line: String) -> Bool {
        let rest = line.drop { $0 == " " }
        let marks = rest.prefix { $0 == mark }
        return line.count - rest.count < 4 && marks.count >= count
            && String(rest.dropFirst(marks.count)).trimmed.isEmpty
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
