public import InwardCore
public import InwardImages
public import UseCases

/// Asks for a gallery and has it presented.
public struct GalleryController: Sendable {
    private let showGallery: ShowGallery
    private let source: String
    private let stopwatch: Stopwatch

    /// Makes a controller.
    ///
    /// - Parameters:
    ///   - showGallery: The use case that gives the gallery.
    ///   - source: What the upstream is called, such as `the built-in sample`.
    ///   - stopwatch: What tells how long it takes.
    public init(showGallery: ShowGallery, source: String, stopwatch: Stopwatch) {
        self.showGallery = showGallery
        self.source = source
        self.stopwatch = stopwatch
    }

    /// The loaders that the gallery compares: images as they are, with a watermark, and with a placeholder in place of failures.
    ///
    /// - Parameter images: Loads the images as they are.
    /// - Returns: the loaders, in the order of the gallery's columns.
    public static func loaders(over images: ImageLoader) -> [GalleryLoader] {
        var plain = images
        plain.addPlugin(Resize(width: 240, height: 240))
        var marked = plain
        marked.addPlugin(Watermark(.text("Inward", .white), width: .ofWidth(0.4)))
        var filled = marked
        filled.addPlugin(Placeholder(size: ImageSize(clamping: 240, 240)))
        return [
            GalleryLoader("Plain", plain), GalleryLoader("Watermark", marked),
            GalleryLoader("Watermark and placeholder", filled),
        ]
    }

    /// What the gallery shows beside the users: an address with nothing there, and one that has no image.
    public static let others: [(title: String, address: ImageAddress)] = [
        ("Nobody", "avatars/0.jpg"), ("Something that is no image", "users"),
    ]

    /// The images of all users, as each loader gives them.
    ///
    /// - Parameter progress: Called after each image with a line that says how far it is, and draws it as a bar.
    /// - Returns: what to show.
    /// - Throws: what to show if there is no list of users to be had.
    public func callAsFunction(
        progress: (String) -> Void = { _ in }
    ) async throws(FailureViewModel) -> GalleryViewModel {
        let start = stopwatch.elapsed
        do throws(ListUsersError) {
            let gallery = try await showGallery { done, total in
                progress("Loading images \(ProgressBar(done: done, total: total))")
            }
            return GalleryPresenter(source: source).present(gallery, after: stopwatch.elapsed - start)
        } catch {
            throw UserListPresenter().present(error)
        }
    }
}

/// Presents galleries.
struct GalleryPresenter {
    let source: String

    func present(_ gallery: Gallery, after duration: Duration) -> GalleryViewModel {
        let exhibits = gallery.rows.flatMap(\.exhibits)
        let failures = exhibits.count { if case .failure = $0.image { true } else { false } }
        return GalleryViewModel(
            generator: "inward",
            loaders: gallery.loaders,
            rows: gallery.rows.map(present),
            provenance: """
                Loaded \(exhibits.count - failures) images of \(exhibits.count) from \(source) in \(duration.spoken).
                """
        )
    }

    private func present(_ row: Gallery.Row) -> GalleryViewModel.Row {
        GalleryViewModel.Row(
            title: row.title,
            address: row.address.description,
            exhibits: row.exhibits.map { present($0, of: row.title) }
        )
    }

    private func present(_ exhibit: Gallery.Exhibit, of title: String) -> GalleryViewModel.Exhibit {
        let steps = exhibit.report.steps.map { "\($0.description) \($0.duration.spoken)" }
        let said = steps.isEmpty ? "nothing was fetched" : steps.joined(separator: ", ")
        switch exhibit.image {
        case .success(let image):
            return GalleryViewModel.Exhibit(
                image: Figure(
                    bytes: image.bytes,
                    mediaType: image.format.mediaType,
                    width: image.size.width,
                    height: image.size.height,
                    alternative: title
                ),
                caption: "\(image.size) in \(exhibit.report.duration.spoken)",
                steps: said
            )
        case .failure(let error):
            return GalleryViewModel.Exhibit(image: nil, caption: error.description, steps: said)
        }
    }
}

/// What a view shows of a gallery: for each image what each loader made of it.
public struct GalleryViewModel: ViewModel, Hashable {
    /// What a view shows of an image.
    public struct Exhibit: Encodable, Hashable, Sendable {
        /// The image; `nil` if there is none.
        public let image: Figure?
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
        /// What the image is of.
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
        let columns = [Table.Column("Image of")] + loaders.map { Table.Column($0) }
        let cells = rows.map { row in
            [Table.Cell(row.title, detail: row.address)]
                + row.exhibits.map { Table.Cell("\($0.caption) (\($0.steps))", image: $0.image) }
        }
        return Document(
            title: "Images",
            blocks: [.heading("Images"), .table(Table(columns: columns, rows: cells)), .paragraph(provenance)]
        )
    }

    /// The gallery as a page, `gallery.html`, that holds all its images.
    public var renderedFiles: [RenderedFile] {
        let renderer = HTMLRenderer(generator: generator)
        return [RenderedFile(name: "gallery.html", contents: renderer.render(document), mark: renderer.beginning)]
    }
}
