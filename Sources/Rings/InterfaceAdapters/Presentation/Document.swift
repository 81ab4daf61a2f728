#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A text with a structure, to be rendered for some medium. What it holds is plain text: the renderers make it safe.
public struct Document: Hashable, Sendable {
    /// A part of a document.
    public enum Block: Hashable, Sendable {
        /// The title of what follows.
        case heading(String)
        /// A sentence or several.
        case paragraph(String)
        /// Somewhere to go, and what it is called.
        case link(String, Link)
        /// Rows under columns.
        case table(Table)
        /// Remarks, each on its own.
        case notes([String])
    }

    /// What the document is called.
    public let title: String
    /// The parts of the document, in their order.
    public let blocks: [Block]

    /// Makes a document of parts.
    public init(title: String, blocks: [Block]) {
        self.title = title
        self.blocks = blocks
    }
}

/// Rows of cells under columns.
public struct Table: Hashable, Sendable {
    /// A column of a table.
    public struct Column: Hashable, Sendable {
        /// What stands above the column.
        public let title: String
        /// Whether the column holds numbers, which are aligned by their last digit.
        public let isNumeric: Bool

        /// Makes a column, of texts unless told otherwise.
        public init(_ title: String, isNumeric: Bool = false) {
            self.title = title
            self.isNumeric = isNumeric
        }
    }

    /// A cell of a table.
    public struct Cell: Hashable, Sendable {
        /// What the cell says.
        public let text: String
        /// What there is to say beyond that, shown where there is room; `nil` if nothing.
        public let detail: String?
        /// Where the cell leads; `nil` if nowhere.
        public let link: Link?
        /// What is shown above the text, where images can be shown; `nil` if nothing.
        public let image: Figure?

        /// Makes a cell.
        public init(_ text: String, detail: String? = nil, link: Link? = nil, image: Figure? = nil) {
            self.text = text
            self.detail = detail
            self.link = link
            self.image = image
        }
    }

    /// The columns, in their order.
    public let columns: [Column]
    /// The rows, each with a cell for each column. A row with fewer is filled up with empty cells.
    public let rows: [[Cell]]

    /// Makes a table; cells beyond the last column are dropped.
    public init(columns: [Column], rows: [[Cell]]) {
        self.columns = columns
        self.rows = rows.map { row in
            row.prefix(columns.count) + Array(repeating: Cell(""), count: max(0, columns.count - row.count))
        }
    }
}

/// An image of a document, which holds it.
public struct Figure: Hashable, Sendable {
    /// The bytes of the image, encoded.
    public let bytes: [UInt8]
    /// What they are encoded as, such as `image/png`.
    public let mediaType: String
    /// How many pixels wide it is.
    public let width: Int
    /// How many pixels high it is.
    public let height: Int
    /// What it shows, for those who do not see it.
    public let alternative: String

    /// Makes an image.
    public init(bytes: [UInt8], mediaType: String, width: Int, height: Int, alternative: String) {
        self.bytes = bytes
        self.mediaType = mediaType
        self.width = width
        self.height = height
        self.alternative = alternative
    }

    /// The image as an address that holds it (RFC 2397).
    var dataURL: String { "data:\(mediaType);base64,\(Data(bytes).base64EncodedString())" }
}
