import InwardFetching
import InwardImages
import InwardTesting
import TestSupport
import Testing

@testable import InwardImageServing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(5)))
struct ImageServerStoreTests {
    private let store = DictionaryStore()

    @Test func dictionaryStoreConforms() async throws {
        try await EncodedImageStoreConformance(now: ServerStage.now).check(DictionaryStore())
    }

    @Test func anotherInstanceServesTheStoredImage() async throws {
        let first = try await ServerStage(store: store).get("a", "corners=2")
        let stage = try ServerStage(store: store)
        // Later, so that less of its lifetime is left.
        let second = try await stage.get("a", "corners=2", after: 100)
        #expect(second.body == first.body && second.headerFields[.etag] == first.headerFields[.etag])
        #expect(second.headerFields[.contentType] == "image/png")
        #expect(second.headerFields[.cacheControl] == "public, max-age=500, immutable")
        #expect(stage.source.asked.isEmpty && stage.codec.encoded.isEmpty)
        let tag = first.headerFields[.etag]
        #expect(try await ServerStage(store: store).get("a", "corners=2", ifNoneMatch: tag).status == .notModified)
        // From memory the second time.
        let looked = store.looked
        _ = try await stage.get("a", "corners=2")
        #expect(store.looked == looked && store.inserted == 1)
    }

    @Test func storedImageHasTheKeyTheMediaTypeAndTheExpiry() async throws {
        let response = try await ServerStage(store: store).get(accept: "image/webp")
        let (key, image) = try #require(store.images.first)
        #expect(key.address == "a" && key.description == "1.1 image/webp,75,quarter grayscale a")
        let expiry = ServerStage.now.addingTimeInterval(600)
        #expect(image == StoredImage(bytes: response.body, mediaType: "image/webp", expiry: expiry))
    }

    @Test func expiredImageIsRemovedAndLoadedAgain() async throws {
        _ = try await ServerStage(store: store).get()
        store.replace { StoredImage(bytes: $0.bytes, mediaType: $0.mediaType, expiry: ServerStage.now) }
        let stage = try ServerStage(store: store)
        #expect(try await stage.get().headerFields[.cacheControl] == "public, max-age=600, immutable")
        #expect(stage.source.asked == ["a"] && store.inserted == 2)
        store.replace { StoredImage(bytes: $0.bytes, mediaType: $0.mediaType, expiry: ServerStage.now) }
        let failing = try ServerStage(SketchSource(), store: store)
        _ = try await failing.get()
        #expect(store.images.isEmpty)
    }

    @Test(arguments: ["text/html", "image/webp", "", "image/png\r\nSet-Cookie: a=b"])
    func imageOfAnotherMediaTypeIsNotServed(mediaType: String) async throws {
        _ = try await ServerStage(store: store).get()
        store.replace { StoredImage(bytes: $0.bytes, mediaType: mediaType, expiry: $0.expiry) }
        let stage = try ServerStage(store: store)
        #expect(try await stage.get().headerFields[.contentType] == "image/jpeg")
        #expect(stage.source.asked == ["a"])
    }

    @Test func storedLifetimeIsLimitedByThePolicy() async throws {
        _ = try await ServerStage(store: store).get()
        store.replace { StoredImage(bytes: $0.bytes, mediaType: $0.mediaType, expiry: .distantFuture) }
        let response = try await ServerStage(store: store).get()
        #expect(response.headerFields[.cacheControl] == "public, max-age=600, immutable")
    }

    @Test func failingStoreIsReportedAndNotNeeded() async throws {
        let failure = EncodedImageStoreError(explanation: "The disk is full. Free some space.")
        store.fail(with: failure)
        let stage = try ServerStage(store: store)
        #expect(try await stage.get().status == .ok)
        // One for the lookup, one for the insert.
        #expect(stage.errors.errors.compactMap { $0 as? EncodedImageStoreError } == [failure, failure])
        #expect(try await stage.get().status == .ok)
        await stage.server.forget("a")
        #expect(stage.errors.errors.count == 3)
    }

    @Test func versionOfThePolicyMakesStoredImagesOfNoUse() async throws {
        _ = try await ServerStage(store: store).get()
        let stage = try ServerStage(policy: ImageServingPolicy(decodedBytes: 0, version: 2), store: store)
        _ = try await stage.get()
        #expect(stage.source.asked == ["a"] && store.images.count == 2)
    }

    @Test func forgettingRemovesStoredImages() async throws {
        let stage = try ServerStage(
            SketchSource(["a": SketchCodec.bytes(8, 4), "b": SketchCodec.bytes(8, 4)]),
            store: store
        )
        for address in ["a", "b"] as [ImageAddress] { _ = try await stage.get(address) }
        await stage.server.forget("a")
        #expect(store.images.keys.map(\.address) == ["b"])
    }

    @Test func imageThatIsForgottenWhileItIsStoredDoesNotComeBack() async throws {
        let store = DictionaryStore(isOpen: false)
        let stage = try ServerStage(store: store)
        let request = Task { try await stage.get().status }
        await store.isInserting()
        await stage.server.forget("a")
        store.open()
        #expect(try await request.value == .ok)
        #expect(store.images.isEmpty)
        _ = try await stage.get()
        #expect(stage.source.asked == ["a", "a"])
    }
}
