/// What a node's label says of its ring: a title, and lines such as `imports: Synchronization`.
struct RingLabel {
    /// The keys that a line can have, in the order in which they are drawn.
    enum Key: String, CaseIterable {
        case targets
        case tests
        case imports
        case testImports = "tests import"
        case packages
        case testPackages = "tests use packages"
    }

    private static let breaks = ["<br/>", "<br />", "<br>", "\\n"]

    let title: String?
    let lists: [Key: [String]]

    /// Reads a label.
    ///
    /// - Throws: a ``DiagramError`` for a line that is neither a title nor one of the keys with a list.
    init(_ label: String, line: Int) throws(DiagramError) {
        var titles: [String] = []
        var lists: [Key: [String]] = [:]
        for (index, part) in Self.parts(of: label).enumerated() where !part.isEmpty {
            let name = String(part.prefix { $0 != ":" }).trimmed
            let key = Key(rawValue: name)
            // A title may have a colon; a slip of the pen behind it is told.
            guard let colon = part.firstIndex(of: ":"), index > 0 || key != nil else {
                titles.append(part)
                continue
            }
            guard let key else {
                let keys = Key.allCases.map { "“\($0.rawValue):”" }.joined(separator: ", ")
                throw DiagramError(line: line, "A label has no “\(name):”. Its lines are a title, or \(keys).")
            }
            guard lists[key] == nil else { throw DiagramError(line: line, "A label has “\(name):” twice.") }
            let items = Self.items(of: String(part[part.index(after: colon)...]))
            guard !items.isEmpty, !items.contains("") else {
                throw DiagramError(line: line, "“\(name):” wants names behind it, with commas between them.")
            }
            lists[key] = items
        }
        title = titles.isEmpty ? nil : titles.joined(separator: "<br/>")
        self.lists = lists
    }

    /// The label's parts: Mermaid breaks its lines by `<br>` or by `\n`.
    private static func parts(of label: String) -> [String] {
        var parts = [""]
        var rest = label[...]
        while let first = rest.first {
            if let mark = Self.breaks.first(where: { rest.prefix($0.count).lowercased() == $0 }) {
                parts.append("")
                rest.removeFirst(mark.count)
            } else {
                parts[parts.count - 1].append(first)
                rest.removeFirst()
            }
        }
        return parts.map(\.trimmed)
    }

    /// What stands between commas that are not in parentheses.
    private static func items(of list: String) -> [String] {
        var items = [""]
        var depth = 0
        for character in list {
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            if character == ",", depth == 0 {
                items.append("")
            } else {
                items[items.count - 1].append(character)
            }
        }
        return items.map(\.trimmed)
    }
}
