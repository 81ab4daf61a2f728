public import InwardCore
public import InwardImages
public import UseCases

/// A controller that loads a gallery and presents it.
///
/// ```swift
/// func showImages(_ controller: GalleryController) async throws(FailureViewModel) {
///     let gallery = try await controller { progress in print(progress) }
///     print(gallery.provenance)  // Loaded 32 of 36 images from the built-in sample in 1.2 s.
/// }
/// ```
public struct GalleryController: Sendable {
    private let showGallery: ShowGallery
    private let source: String
    private let stopwatch: Stopwatch

    /// Creates a controller.
    ///
    /// - Parameters:
    ///   - showGallery: The use case that loads the gallery.
    ///   - source: The name of the upstream, such as `the built-in sample`.
    ///   - stopwatch: Measures how long loading takes.
    public init(showGallery: ShowGallery, source: String, stopwatch: Stopwatch) {
        self.showGallery = showGallery
        self.source = source
        self.stopwatch = stopwatch
    }

    /// Returns the loaders to compare: plain, with a watermark, and with a watermark and a placeholder for failures.
    ///
    /// - Parameter images: The loader on which the others are based.
    /// - Returns: The loaders, in the order of the gallery's columns.
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

    /// Addresses that show what failures look like: one where nothing exists, and one that is not an image.
    public static let others: [(title: String, address: ImageAddress)] = [
        ("Missing", "avatars/0.jpg"), ("Not an image", "users"),
    ]

    /// Loads the images of all users with each loader.
    ///
    /// - Parameter progress: Called after each image with a line that contains a progress bar.
    /// - Returns: The gallery to show.
    /// - Throws: The failure to show if the users cannot be listed.
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
                Loaded \(exhibits.count - failures) of \(exhibits.count) images from \(source) in \(duration.spoken).
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

/// The view model of a gallery: each image as each loader produced it.
///
/// ```swift
/// func failures(in gallery: GalleryViewModel) -> [String] {
///     gallery.rows.flatMap(\.exhibits).filter { $0.image == nil }.map(\.caption)
/// }
/// ```
public struct GalleryViewModel: ViewModel, Hashable {
    /// The view model of one loader's image.
    public struct Exhibit: Encodable, Hashable, Sendable {
        /// The image; `nil` if loading failed.
        public let image: Figure?
        /// The size of the image and its loading time, or the reason it failed.
        public let caption: String
        /// The steps that the loader took, with their durations.
        public let steps: String

        enum CodingKeys: CodingKey {
            case caption
            case steps
        }
    }

    /// The view model of an address.
    public struct Row: Encodable, Hashable, Sendable {
        /// The subject of the image.
        public let title: String
        /// The address, without secrets.
        public let address: String
        /// The image as each loader produced it.
        public let exhibits: [Exhibit]
    }

    /// The name of the program that generated the gallery.
    public let generator: String
    /// The names of the loaders.
    public let loaders: [String]
    /// The rows in display order.
    public let rows: [Row]
    /// A sentence that says what was loaded, from where, and how long it took.
    public let provenance: String

    /// The key of `generator` sorts first, so that the beginning of a JSON file identifies the program that wrote it.
    enum CodingKeys: String, CodingKey {
        case generator = "_generator"
        case loaders
        case rows
        case provenance
    }

    /// A table with one column per loader, followed by the provenance.
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
}
