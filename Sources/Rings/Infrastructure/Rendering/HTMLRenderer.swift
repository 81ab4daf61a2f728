import Foundation
public import InterfaceAdapters
import InwardCore

/// A renderer of documents as self-contained HTML pages without scripts or external resources.
///
/// ```swift
/// let html = HTMLRenderer(generator: "example").render(document)
/// ```
public struct HTMLRenderer: Sendable {
    private let generator: String

    /// Creates a renderer.
    ///
    /// - Parameter generator: The name of the program that generates the pages, written to each page's `generator` meta
    ///   element.
    public init(generator: String) {
        self.generator = generator
    }

    /// The text with which every page of this generator begins.
    public var beginning: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="generator" content="\(generator.escaped)">
        """
    }

    /// Returns the document as a page.
    ///
    /// - Complexity: O(n) in the size of the document.
    public func render(_ document: Document) -> String {
        """
        \(beginning)
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
        <title>\(document.title.escaped)</title>
        <style>
        \(Self.style)
        </style>
        </head>
        <body>
        \(document.blocks.map(render).joined(separator: "\n"))
        </body>
        </html>

        """
    }

    private func render(_ block: Document.Block) -> String {
        switch block {
        case .heading(let text):
            "<h2>\(text.escaped)</h2>"
        case .paragraph(let text):
            "<p>\(text.escaped)</p>"
        case .link(let text, let link):
            "<p>\(anchor(text, to: link))</p>"
        case .notes(let notes):
            "<ul>\n\(notes.map { "<li>\($0.escaped)</li>\n" }.joined())</ul>"
        case .table(let table):
            render(table)
        }
    }

    private func render(_ table: Table) -> String {
        let head = table.columns.map { "<th scope=\"col\"\(style(of: $0))>\($0.title.escaped)</th>" }.joined()
        let rows = table.rows.map { row in
            let cells = zip(row, table.columns).map { cell, column in
                let detail = cell.detail.map { " title=\"\($0.escaped)\"" } ?? ""
                let image = cell.image.map { render($0) } ?? ""
                return "<td\(style(of: column))\(detail)>\(image)\(anchor(cell.text, to: cell.link))</td>"
            }
            return "<tr>\(cells.joined())</tr>\n"
        }
        return "<table>\n<thead><tr>\(head)</tr></thead>\n<tbody>\n\(rows.joined())</tbody>\n</table>"
    }

    private func render(_ image: Figure) -> String {
        """
        <img src="\(image.dataURL.escaped)" width="\(image.width)" height="\(image.height)" \
        alt="\(image.alternative.escaped)"><br>
        """
    }

    private func anchor(_ text: String, to link: Link?) -> String {
        link.map { "<a href=\"\($0.text.escaped)\">\(text.escaped)</a>" } ?? text.escaped
    }

    private func style(of column: Table.Column) -> String {
        column.isNumeric ? " class=\"number\"" : ""
    }

    private static let style = """
        body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
        table { border-collapse: collapse; width: 100%; }
        th, td { text-align: left; vertical-align: top; padding: .3rem .8rem; border-bottom: 1px solid #ddd; }
        img { max-width: 100%; height: auto; }
        .number { text-align: right; font-variant-numeric: tabular-nums; }
        """
}

extension Figure {
    /// The image as a data URL (RFC 2397).
    fileprivate var dataURL: String { "data:\(mediaType);base64,\(Data(bytes).base64EncodedString())" }
}

extension String {
    /// The text escaped for element content and quoted attributes, with hidden characters made visible.
    fileprivate var escaped: String {
        visible.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&#39;"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
