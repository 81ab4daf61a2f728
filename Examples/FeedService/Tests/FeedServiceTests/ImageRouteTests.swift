import Foundation
import HTTPTypes
import HummingbirdTesting
import Infrastructure
import InwardCore
import InwardFetching
import InwardImageServing
import InwardImages
import InwardRepositories
import InwardTesting
import NIOCore
import Testing

@testable import FeedService

@Suite(.timeLimit(.minutes(5)))
struct ImageRouteTests {
    private static let key = "2027a:" + Data(repeating: 7, count: 32).base64EncodedString()
    private static let oldKey = "2026b:" + Data(repeating: 6, count: 32).base64EncodedString()

    /// The paths of the images in the gallery.
    private func paths(_ client: any TestClientProtocol) async throws -> [String] {
        let page = String(buffer: try await client.get("/gallery").body)
        return page.matches(of: /src="(\/images\/[^"]+)"/).map { String($0.output.1) }
    }

    @Test func galleryShowsAnImageOfEachUser() async throws {
        try await FeedStage().serving { client in
            let paths = try await paths(client)
            #expect(paths.count == 10 && Set(paths).count == 10)
            let response = try await client.get(try #require(paths.first))
            #expect(response.status == .ok && response.headers[.contentType] == "image/jpeg")
            #expect(response.headers[.vary] == "Accept" && response.headers[.xContentTypeOptions] == "nosniff")
            #expect(response.headers[.cacheControl]?.hasPrefix("public, max-age=") == true)
            #expect(response.body.readableBytesView.starts(with: [0xFF, 0xD8, 0xFF]))
        }
    }

    @Test func clientGetsTheFormatThatItNames() async throws {
        try await FeedStage().serving { client in
            let path = try #require(try await paths(client).first)
            for (accept, type) in [
                ("image/avif,image/webp,*/*;q=0.8", "image/avif"), ("image/webp,*/*", "image/webp"),
                ("image/*", "image/jpeg"),
            ] {
                let response = try await client.get(path, [.accept: accept])
                #expect(response.headers[.contentType] == type)
            }
        }
    }

    @Test func clientThatHasTheImageGetsNoBody() async throws {
        try await FeedStage().serving { client in
            let path = try #require(try await paths(client).first)
            let whole = try await client.get(path)
            let tag = try #require(whole.headers[.eTag])
            let same = try await client.get(path, [.ifNoneMatch: tag])
            #expect(same.status == .notModified && same.body.readableBytes == 0)
            let head = try await client.execute(uri: path, method: .head)
            #expect(head.status == .ok && head.body.readableBytes == 0 && head.headers[.eTag] == tag)
        }
    }

    @Test func forgedPathsAreRefused() async throws {
        try await FeedStage().serving { client in
            let path = try #require(try await paths(client).first)
            let larger = path.replacing("240x240", with: "8000x8000")
            #expect(larger != path)
            for forged in [larger, path + "A", "/images/x/resize=1x1/YQ", "/images/a", "/images/../../x"] {
                let response = try await client.get(forged)
                #expect(response.status == .forbidden)
            }
        }
    }

    @Test func imageThatCannotBeLoadedHasAPlaceholder() async throws {
        let sample = SampleDataFetcher()
        let upstream = StubDataFetcher { request throws(FetchError) in
            guard request.url.path().contains("avatars") else { return try await sample.fetch(request) }
            return DataResponse(status: 503)
        }
        try await FeedStage(dataFetcher: upstream).serving { client in
            let response = try await client.get(try #require(try await paths(client).first))
            #expect(response.status == .serviceUnavailable && response.headers[.cacheControl] == "no-store")
            #expect(response.headers[.contentType] == "image/jpeg" && response.body.readableBytes > 0)
        }
    }

    @Test func imageThatMissesTheTimeLimitIsAProblem() async throws {
        let (clock, begun) = (ManualClock(), Promise<Void>())
        let sample = SampleDataFetcher()
        let upstream = StubDataFetcher { request throws(FetchError) in
            guard request.url.path().contains("avatars") else { return try await sample.fetch(request) }
            begun.fulfill(())
            _ = await Promise<Void>().value()
            return DataResponse()
        }
        var settings = ServiceSettings()
        settings.timeLimit = .seconds(3)
        try await FeedStage(settings, dataFetcher: upstream, clock: clock).serving { client in
            let path = try #require(try await paths(client).first)
            async let response = client.get(path)
            _ = await begun.value()
            clock.advance(by: .seconds(3))
            let late = try await response
            #expect(try !late.problem(503).isEmpty)
            #expect(late.headers[.retryAfter] == "5")
        }
    }

    @Test func pathsOfAnEarlierKeyAreValid() async throws {
        var settings = ServiceSettings()
        settings.imageKeys = [Self.oldKey].compactMap(ImageKey.init)
        let path = try await FeedStage(settings).serving { client in try #require(try await paths(client).first) }
        settings.imageKeys = [Self.key, Self.oldKey].compactMap(ImageKey.init)
        try await FeedStage(settings).serving { client in
            let response = try await client.get(path)
            #expect(response.status == .ok)
            let newer = try await paths(client).first
            #expect(newer?.hasPrefix("/images/2027a.") == true)
        }
        settings.imageKeys = [Self.key].compactMap(ImageKey.init)
        try await FeedStage(settings).serving { client in
            let response = try await client.get(path)
            #expect(response.status == .forbidden)
        }
    }

    @Test func keyIsReadFromText() {
        #expect(ImageKey(Self.key)?.id == "2027a")
        for text in [
            "", "a", "a:", "a:AAAA", ":" + Self.key.dropFirst(6), "a b:" + Self.key.dropFirst(6), Self.key + "!",
        ] {
            #expect(ImageKey(text) == nil)
        }
    }

    @Test func storeOfEncodedImagesConforms() async throws {
        let now = Date()
        let store = InMemoryRecordStore(now: { now })
        try await EncodedImageStoreConformance(now: now).check(RecordImageStore(records: store))
    }

    @Test func encodedImagesAreKeptInTheStore() async throws {
        let store = InMemoryRecordStore()
        let images = RecordImageStore(records: store)
        let key = ImageVariantKey(address: "avatars/7.jpg", description: "key")
        let image = StoredImage(
            bytes: Data([1, 2, 3]),
            mediaType: "image/webp",
            expiry: Date(timeIntervalSinceNow: 600)
        )
        #expect(try await images.image(for: key) == nil)
        try await images.insert(image, for: key)
        #expect(try await images.image(for: key) == image)
        try await images.removeImage(for: key)
        #expect(try await images.image(for: key) == nil)
        try await images.insert(image, for: key)
        try await images.removeImages(from: "avatars/6.jpg")
        #expect(try await images.image(for: key) == image)
        try await images.removeImages(from: "avatars/7.jpg")
        #expect(try await images.image(for: key) == nil)
        try await store.commit([.keep(StoredRecord([1], expiry: image.expiry), ["images", "avatars/7.jpg", "key"])])
        #expect(try await images.image(for: key) == nil)
    }
}
