/// What a view shows of a gallery: for each picture what each loader made of it.
public struct GalleryViewModel: ViewModel, Hashable {
    /// What a view shows of a picture.
    public struct Exhibit: Encodable, Hashable, Sendable {
        /// The picture; `nil` if there is none.
        public let picture: Picture?
        /// How large it is and how long it took, or why there is none.
        public let caption: String
        /// What the loader did, step by step.
        public let steps: String

        enum CodingKeys: CodingKey {
            case caption
            case steps
        }
    }

    /// What a view shows of an address.
    public struct Row: Encodable, Hashable, Sendable {
        /// What the picture is of.
        public let title: String
        /// Where it is, without what may be secret.
        public let address: String
        /// What each loader made of it.
        public let exhibits: [Exhibit]
    }

    /// Which program made this.
    public let generator: String
    /// What the loaders are called.
    public let loaders: [String]
    /// The rows, in their order.
    public let rows: [Row]
    /// What was loaded from where, and how long that took, as a sentence.
    public let provenance: String

    /// The name of the program comes first, so that a file is known by how it begins.
    enum CodingKeys: String, CodingKey {
        case generator = "_generator"
        case loaders
        case rows
        case provenance
    }

    /// The rows as a table with a column for each loader, and the sentence.
    public var document: Document {
        let columns = [Table.Column("Picture of")] + loaders.map { Table.Column($0) }
        let cells = rows.map { row in
            [Table.Cell(row.title, detail: row.address)]
                + row.exhibits.map { Table.Cell("\($0.caption) (\($0.steps))", picture: $0.picture) }
        }
        return Document(
            title: "Pictures",
            blocks: [.heading("Pictures"), .table(Table(columns: columns, rows: cells)), .paragraph(provenance)]
        )
    }

    /// The gallery as a page, `gallery.html`, that holds all its pictures.
    public var renderedFiles: [RenderedFile] {
        let renderer = HTMLRenderer(generator: generator)
        return [RenderedFile(name: "gallery.html", contents: renderer.render(document), mark: renderer.beginning)]
    }
}
