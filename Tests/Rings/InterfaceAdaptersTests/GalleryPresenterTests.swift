import InwardCore
import InwardFetching
import InwardImageServing
import InwardImages
import InwardTesting
import Testing
import UseCases
import UseCasesTesting

@testable import InterfaceAdapters

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct GalleryPresenterTests {
    private let viewModel: GalleryViewModel
    private let progress: [String]

    init() async throws {
        let source = FetchingImageSource(
            StubDataFetcher { request in
                let status: DataResponse.Status = request.url.path().hasSuffix("1.jpg") ? .ok : .notFound
                return DataResponse(status: status, body: Data([1, 2]))
            }
        )
        let show = ShowGallery(
            users: ListUsers(users: InMemoryUserRepository([try .example(1), try .example(2)])),
            loaders: [
                GalleryLoader(
                    "Plain",
                    ImageLoader(source: source, codec: ClearImageCodec(), timer: TimerService(ManualClock()))
                )
            ],
            codec: ClearImageCodec(),
            avatar: { ImageAddress("http://upstream.test/\(ImageAddress.avatar(of: $0).rawValue)") }
        )
        var lines: [String] = []
        viewModel = try await GalleryController(
            showGallery: show,
            source: "the <test>",
            stopwatch: Stopwatch(ManualClock())
        )() { lines.append($0) }
        progress = lines
    }

    @Test(arguments: [((480, 200), "240×100"), ((200, 480), "100×240")])
    func imagesAreResizedToFitTheirColumn(size: (Int, Int), shown: String) async throws {
        let codec = ClearImageCodec(size: ImageSize(clamping: size.0, size.1))
        let source = FetchingImageSource(StubDataFetcher(DataResponse(body: Data([1, 2]))))
        let show = ShowGallery(
            users: ListUsers(users: InMemoryUserRepository([try .example(1)])),
            loaders: GalleryController.loaders(
                over: ImageLoader(source: source, codec: codec, timer: TimerService(ManualClock()))
            ),
            codec: codec,
            avatar: { ImageAddress("http://upstream.test/\(ImageAddress.avatar(of: $0).rawValue)") }
        )
        let controller = GalleryController(showGallery: show, source: "test", stopwatch: Stopwatch(ManualClock()))
        let captions = try await controller { _ in }.rows[0].exhibits.map(\.caption)
        #expect(captions.count == 3 && captions.allSatisfy { $0.hasPrefix("\(shown) in ") }, "\(captions)")
    }

    @Test func progressIsReportedAfterEachImage() {
        #expect(progress == [1, 2].map { "Loading images \(ProgressBar(done: $0, total: 2))" })
    }

    @Test func imageIsShownWithItsSizeAndSteps() {
        let figure = Figure(bytes: [7, 8], mediaType: "image/png", width: 1, height: 1, alternative: "Ada Lovelace")
        let caption = "1×1 in 0 ms (fetch 0 ms, decode 0 ms, Orient 0 ms)"
        #expect(viewModel.document.rows[0][1] == Table.Cell(caption, image: figure))
    }

    @Test func failureSaysWhyTheImageIsMissing() {
        #expect(viewModel.rows[1].exhibits[0].image == nil)
        #expect(
            viewModel.rows[1].exhibits[0].caption
                == "The image http://upstream.test/avatars/2.jpg was answered with 404 Not Found."
        )
    }

    @Test func provenanceCountsTheLoadedImages() {
        #expect(viewModel.provenance == "Loaded 1 of 2 images from the <test> in 0 ms.")
        #expect(viewModel.document.blocks.last == .paragraph(viewModel.provenance))
    }
}
