/// A structured text that the renderers of ring 4 draw for a medium. It holds plain text; the renderers escape it.
///
/// ```swift
/// let document = Document(title: "Users", blocks: [.heading("Users"), .paragraph("10 users.")])
/// ```
public struct Document: Hashable, Sendable {
    /// A part of a document.
    public enum Block: Hashable, Sendable {
        /// A heading for the blocks that follow.
        case heading(String)
        /// One or more sentences.
        case paragraph(String)
        /// A link with its label.
        case link(String, Link)
        /// A table.
        case table(Table)
        /// A list of notes.
        case notes([String])
    }

    /// The title of the document.
    public let title: String
    /// The blocks in display order.
    public let blocks: [Block]

    /// Creates a document from its blocks.
    public init(title: String, blocks: [Block]) {
        self.title = title
        self.blocks = blocks
    }
}

/// A table with rows and columns.
///
/// ```swift
/// let table = Table(
///     columns: [Table.Column("ID", isNumeric: true), Table.Column("Name")],
///     rows: [[Table.Cell("7"), Table.Cell("Ada Lovelace", link: Link("/app/users/7"))]]
/// )
/// ```
public struct Table: Hashable, Sendable {
    /// A column of a table.
    public struct Column: Hashable, Sendable {
        /// The heading of the column.
        public let title: String
        /// Whether the column holds numbers, which are aligned to the right.
        public let isNumeric: Bool

        /// Creates a column, of text by default.
        public init(_ title: String, isNumeric: Bool = false) {
            self.title = title
            self.isNumeric = isNumeric
        }
    }

    /// A cell of a table.
    public struct Cell: Hashable, Sendable {
        /// The text of the cell.
        public let text: String
        /// Additional text to show where the medium has room; `nil` if there is none.
        public let detail: String?
        /// The link of the cell; `nil` if there is none.
        public let link: Link?
        /// An image to show above the text in media with images; `nil` if there is none.
        public let image: Figure?

        /// Creates a cell.
        public init(_ text: String, detail: String? = nil, link: Link? = nil, image: Figure? = nil) {
            self.text = text
            self.detail = detail
            self.link = link
            self.image = image
        }
    }

    /// The columns in display order.
    public let columns: [Column]
    /// The rows, with one cell per column. Missing cells are empty.
    public let rows: [[Cell]]

    /// Creates a table. Short rows are padded with empty cells, and cells beyond the last column are dropped.
    public init(columns: [Column], rows: [[Cell]]) {
        self.columns = columns
        self.rows = rows.map { row in
            row.prefix(columns.count) + Array(repeating: Cell(""), count: max(0, columns.count - row.count))
        }
    }
}

/// An image that is embedded in a document.
///
/// ```swift
/// func cell(showing portrait: [UInt8]) -> Table.Cell {
///     let figure = Figure(bytes: portrait, mediaType: "image/jpeg", width: 240, height: 240, alternative: "Ada")
///     return Table.Cell("Ada Lovelace", image: figure)
/// }
/// ```
public struct Figure: Hashable, Sendable {
    /// The bytes of the encoded image.
    public let bytes: [UInt8]
    /// The media type of the encoding, such as `image/png`.
    public let mediaType: String
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// A description for people who cannot see the image.
    public let alternative: String

    /// Creates an image.
    public init(bytes: [UInt8], mediaType: String, width: Int, height: Int, alternative: String) {
        self.bytes = bytes
        self.mediaType = mediaType
        self.width = width
        self.height = height
        self.alternative = alternative
    }
}
