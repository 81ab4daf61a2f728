import Composition
import Foundation
import InterfaceAdapters
import InwardFetching
import InwardImageCodecs
import InwardImageServing
import InwardImages
import InwardScopes
import InwardTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct GalleryContainerTests {
    private let dataFetcher: RecordingDataFetcher

    init() throws {
        let image = Data(
            try SwiftImageCodec().bytes(of: Image(size: ImageSize(clamping: 12, 9), color: .black), as: .png)
        )
        dataFetcher = RecordingDataFetcher(
            StubDataFetcher { request in
                request.url.path().hasSuffix("avatars/7.jpg") ? DataResponse(body: image) : Source.answer(to: request)
            }
        )
    }

    private func fetches(of name: String) -> Int {
        dataFetcher.requests.count { $0.url.path().hasSuffix(name) }
    }

    @Test func eachLoaderProducesItsImages() async throws {
        let user = try await UserContainer(.guest, in: .example(dataFetcher))
        let gallery = try await GalleryContainer(in: user).withInteraction { try await $0.gallery() }
        #expect(gallery.loaders == ["Plain", "Watermark", "Watermark and placeholder"])
        #expect(gallery.rows.map(\.title) == ["Ada Lovelace", "Missing", "Not an image"])
        let sizes = gallery.rows.map { row in row.exhibits.map { $0.image.map { "\($0.width)×\($0.height)" } } }
        #expect(sizes == [["12×9", "12×9", "12×9"], [nil, nil, "240×240"], [nil, nil, "240×240"]])
        let images = gallery.rows[0].exhibits.compactMap { $0.image?.bytes }
        #expect(images[0] != images[1] && images[1] == images[2])
        #expect(gallery.rows[2].exhibits[0].caption.contains("is not in a known image format"))
        #expect(gallery.provenance == "Loaded 5 of 9 images from the built-in sample in 0 ms.")
    }

    @Test func imageIsFetchedOncePerSession() async throws {
        let app = try await AppContainer.example(dataFetcher)
        let ada = try await UserContainer(UserSession(name: "ada", credentials: .bearer("a")), in: app)
        let bob = try await UserContainer(UserSession(name: "bob", credentials: .bearer("b")), in: app)
        for _ in 0..<2 { _ = try await ada.images.loadImage(from: "avatars/7.jpg") }
        #expect(fetches(of: "avatars/7.jpg") == 1)
        _ = try await bob.images.loadImage(from: "avatars/7.jpg")
        #expect(fetches(of: "avatars/7.jpg") == 2)
    }

    @Test func imagesOfASessionAreDiscardedWithIt() async throws {
        let app = try await AppContainer.example(dataFetcher)
        let user = try await UserContainer(.guest, in: app)
        _ = try await user.images.loadImage(from: "avatars/7.jpg")
        #expect(try app.imageCache.bytes > 2 * 12 * 9 * 4)
        try await user.close()
        #expect(try app.imageCache.bytes == 0)
    }

    @Test func configuredImageLimitsApply() async throws {
        let configuration = try AppConfiguration(imageLimits: ImageLimits(pixels: 107))
        let user = try await UserContainer(.guest, in: .example(dataFetcher, configuration))
        let error = await #expect(throws: ImageError.self) { try await user.images.loadImage(from: "avatars/7.jpg") }
        #expect(error?.reason == .tooLarge)
    }

    @MainActor @Test func fetchedImagesAreNotDecodedOnTheMainQueue() async throws {
        #expect(MainQueue.isCurrent)
        let codec = QueueRecordingCodec()
        let loader = ImageLoader(source: FetchingImageSource(dataFetcher), codec: codec)
        _ = try await loader.loadImage(from: "http://upstream.test/avatars/7.jpg")
        #expect(codec.wasOnMainQueue.withLock(\.self) == [false])
    }

    /// A cache with the same bytes for every image.
    private struct Store: ImageDataCache {
        let bytes: [UInt8]

        func bytes(of image: ImageKey) async -> [UInt8]? { bytes }
        func keep(_ bytes: [UInt8], of image: ImageKey) async {}
        func forget(_ address: ImageAddress?) async {}
    }

    @MainActor @Test func storedImagesAreNotDecodedOnTheMainQueue() async throws {
        #expect(MainQueue.isCurrent)
        let codec = QueueRecordingCodec()
        let image = Image(size: ImageSize(clamping: 2, 2), color: Color(gray: 9))
        let store = Store(bytes: try codec.bytes(of: image, as: .png))
        let loader = ImageLoader(source: FetchingImageSource(dataFetcher), codec: codec, store: store)
        #expect(try await loader.loadImage(from: "http://upstream.test/avatars/7.jpg") == image)
        #expect(codec.wasOnMainQueue.withLock(\.self) == [false])
    }
}
