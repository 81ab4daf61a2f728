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
