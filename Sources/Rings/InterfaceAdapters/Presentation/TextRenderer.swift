import InwardCore

/// Renders documents as plain text for a terminal: tables are aligned, and nothing in them can act on the terminal.
public struct TextRenderer: Sendable {
    private let maximumColumnWidth: Int

    /// Makes a renderer.
    ///
    /// - Parameter maximumColumnWidth: How many columns of the terminal a column of a table takes at most, at least 1.
    ///   Longer texts are cut short with an ellipsis, but for links.
    public init(maximumColumnWidth: Int = 44) {
        self.maximumColumnWidth = max(1, maximumColumnWidth)
    }

    /// The document as lines, each ended by a line feed, with an empty line between its parts.
    ///
    /// - Complexity: O(n) in the size of the document.
    public func render(_ document: Document) -> String {
        document.blocks.map(render).joined(separator: "\n")
    }

    /// A text as one line, not ended, in which nothing can act on the terminal.
    public func render(line: String) -> String {
        line.visible
    }

    private func render(_ block: Document.Block) -> String {
        switch block {
        case .heading(let text):
            let text = text.visible
            return "\(text)\n\(String(repeating: "=", count: text.displayWidth))\n"
        case .paragraph(let text):
            return text.visible + "\n"
        case .link(let text, let link):
            return "\(text.visible): \(link.text.visible)\n"
        case .notes(let notes):
            return notes.map { "- \($0.visible)\n" }.joined()
        case .table(let table):
            return render(table)
        }
    }

    private func render(_ bareTable: Table) -> String {
        let table = bareTable.withColumnOfLinks
        let cells = [table.columns.map(\.title)] + table.rows.map { $0.map(\.text) }
        let texts = cells.map { row in
            row.enumerated().map { column, text in
                // A link that was cut short would lead nowhere.
                bareTable.columns.indices.contains(column)
                    ? text.visible.truncated(toWidth: maximumColumnWidth) : text.visible
            }
        }
        let widths = table.columns.indices.map { column in texts.map { $0[column].displayWidth }.max() ?? 0 }
        var lines = texts.map { row in
            line(
                zip(row, zip(table.columns, widths)).map { text, column in
                    text.padded(toWidth: column.1, leading: column.0.isNumeric)
                }
            )
        }
        lines.insert(line(widths.map { String(repeating: "-", count: $0) }), at: 1)
        return lines.joined()
    }

    private func line(_ cells: [String]) -> String {
        var line = cells.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        return line + "\n"
    }
}

extension Table {
    /// This table with the links of its cells, the first of each row, as a column of their own if there are any.
    fileprivate var withColumnOfLinks: Table {
        let links = rows.map { row in row.lazy.compactMap(\.link).first }
        guard links.contains(where: { $0 != nil }) else { return self }
        return Table(
            columns: columns + [Column("Link")],
            rows: zip(rows, links).map { row, link in row + [Cell(link?.text ?? "")] }
        )
    }
}
