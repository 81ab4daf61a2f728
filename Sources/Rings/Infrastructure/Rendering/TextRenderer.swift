public import InterfaceAdapters
import InwardCore

/// A renderer of documents as plain text for a terminal. Tables are aligned, and control characters cannot affect the terminal.
///
/// ```swift
/// print(TextRenderer().render(document))
/// ```
public struct TextRenderer: Sendable {
    private let maximumColumnWidth: Int

    /// Creates a renderer.
    ///
    /// - Parameter maximumColumnWidth: The maximum width of a table column in terminal columns, at least 1.
    ///   Longer texts are truncated with an ellipsis, except links.
    public init(maximumColumnWidth: Int = 44) {
        self.maximumColumnWidth = max(1, maximumColumnWidth)
    }

    /// Returns the document as lines that end with a line feed, with an empty line between blocks.
    ///
    /// - Complexity: O(n) in the size of the document.
    public func render(_ document: Document) -> String {
        document.blocks.map(render).joined(separator: "\n")
    }

    /// Returns a text as one line, without a line feed, in which control characters cannot affect the terminal.
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
                // Links are not truncated, because a truncated link would not work.
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
    /// The table with an additional column for the first link of each row, if there are any links.
    fileprivate var withColumnOfLinks: Table {
        let links = rows.map { row in row.lazy.compactMap(\.link).first }
        guard links.contains(where: { $0 != nil }) else { return self }
        return Table(
            columns: columns + [Column("Link")],
            rows: zip(rows, links).map { row, link in row + [Cell(link?.text ?? "")] }
        )
    }
}

extension String {
    /// The number of terminal columns that this text occupies. The text must not contain hidden characters.
    ///
    /// - Complexity: O(n) in the length of the text.
    var displayWidth: Int {
        utf8.allSatisfy { $0 < 0x80 } ? utf8.count : reduce(0) { $0 + $1.displayWidth }
    }

    /// Returns this text, truncated with an ellipsis if it is wider than the given width.
    func truncated(toWidth width: Int) -> String {
        let bounded = boundedByScalars(to: width)
        guard bounded.endIndex < endIndex || displayWidth > width else { return self }
        var room = width - 1
        let beginning = bounded.prefix { character in
            room -= character.displayWidth
            return room >= 0
        }
        return beginning + "…"
    }

    /// Returns this text, padded to the given width with spaces before it (`leading`) or after it.
    func padded(toWidth width: Int, leading: Bool) -> String {
        let spaces = String(repeating: " ", count: max(0, width - displayWidth))
        return leading ? spaces + self : self + spaces
    }
}

extension Character {
    /// The number of terminal columns that the character occupies: two for emoji and for characters that Unicode Standard
    /// Annex 11 calls wide or full-width, zero for characters that combine with the preceding one, and one for all others.
    fileprivate var displayWidth: Int {
        guard !isASCII, let first = unicodeScalars.first else { return 1 }
        if first.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}") { return 2 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return Self.wideRanges.contains { $0.contains(first.value) } ? 2 : 1
        }
    }

    private static let wideRanges: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
        0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD,
    ]
}
