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
        /// What is shown above the text, where pictures can be shown; `nil` if nothing.
        public let picture: Picture?

        /// Makes a cell.
        public init(_ text: String, detail: String? = nil, link: Link? = nil, picture: Picture? = nil) {
            self.text = text
            self.detail = detail
            self.link = link
            self.picture = picture
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
