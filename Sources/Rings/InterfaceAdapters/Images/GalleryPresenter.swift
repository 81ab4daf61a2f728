import InwardImages
import UseCases

/// Presents galleries.
struct GalleryPresenter {
    let source: String

    func present(_ gallery: Gallery, after duration: Duration) -> GalleryViewModel {
        let exhibits = gallery.rows.flatMap(\.exhibits)
        let failures = exhibits.count { if case .failure = $0.picture { true } else { false } }
        return GalleryViewModel(
            generator: "inward",
            loaders: gallery.loaders,
            rows: gallery.rows.map(present),
            provenance: """
                Loaded \(exhibits.count - failures) pictures of \(exhibits.count) from \(source) in \(duration.spoken).
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
        switch exhibit.picture {
        case .success(let picture):
            return GalleryViewModel.Exhibit(
                picture: Picture(
                    bytes: picture.bytes,
                    mediaType: picture.format.mediaType,
                    width: picture.size.width,
                    height: picture.size.height,
                    alternative: title
                ),
                caption: "\(picture.size) in \(exhibit.report.duration.spoken)",
                steps: said
            )
        case .failure(let error):
            return GalleryViewModel.Exhibit(picture: nil, caption: error.description, steps: said)
        }
    }
}
