import InwardFetching
import InwardImages
import InwardTesting
import TestSupport
import Testing

@testable import InwardImageServing

/// Tests what the server answers with an image.
@Suite(.timeLimit(.minutes(5)))
struct ImageServerTests {
    @Test func imageIsProcessedEncodedAndDescribed() async throws {
        let stage = try ServerStage()
        let response = try await stage.get("a", "crop=2x3;grayscale")
        #expect(response.status == .ok && response.text == "image/jpeg q82 2×3")
        #expect(response.headerFields[.contentType] == "image/jpeg")
        #expect(response.headerFields[.contentLength] == "\(response.body.count)")
        #expect(response.headerFields[.cacheControl] == "public, max-age=600, immutable")
        #expect(response.headerFields[.vary] == "Accept")
        #expect(response.headerFields[.contentSecurityPolicy] == "default-src 'none'")
        #expect(response.headerFields[.contentTypeOptions] == "nosniff")
        let tag = EntityTag(response.headerFields[.etag] ?? "")
        #expect(tag == EntityTag(digest: StubAuthenticator(key: 0).authenticationCode(for: Array(response.body))))
        #expect(tag?.isWeak == false)
        #expect(stage.errors.errors.isEmpty)
    }

    @Test func stepsRunInTheOrderOfTheRecipe() async throws {
        let stage = try ServerStage()
        #expect(try await stage.get("a", "crop=4x4;resize=2x2").text == "image/jpeg q82 2×2")
        #expect(try await stage.get("a", "resize=2x2;crop=4x4").text == "image/jpeg q82 2×1")
    }

    @Test func formatIsNegotiated() async throws {
        let stage = try ServerStage()
        #expect(try await stage.get(accept: "image/webp,*/*").text == "image/webp q75 8×4")
        #expect(try await stage.get(accept: "image/*").text == "image/jpeg q82 8×4")
        let rounded = try await stage.get("a", "corners=2", accept: "*/*")
        #expect(rounded.text == "image/png q80 8×4" && rounded.headerFields[.contentType] == "image/png")
        #expect(try await stage.get("a", "corners=2", accept: "image/webp").text == "image/webp q75 8×4")
    }

    @Test func secondRequestIsAnsweredFromMemory() async throws {
        let stage = try ServerStage()
        let first = try await stage.get()
        #expect(try await stage.get() == first)
        #expect(try await stage.get(lasting: 60).body == first.body)
        #expect(stage.source.asked == ["a"] && stage.codec.encoded.count == 1)
    }

    @Test func otherRecipesAddressesAndFormatsAreOtherImages() async throws {
        let stage = try ServerStage(SketchSource(["a": SketchCodec.bytes(8, 4), "b": SketchCodec.bytes(9, 4)]))
        let texts = [
            try await stage.get().text, try await stage.get("b").text, try await stage.get("a", "crop=1x1").text,
            try await stage.get(accept: "image/webp").text,
        ]
        #expect(Set(texts).count == 4 && stage.codec.encoded.count == 4)
    }

    @Test func clientThatHasTheImageGetsNoBody() async throws {
        let stage = try ServerStage()
        let tag = try #require(try await stage.get().headerFields[.etag])
        for condition in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
            let response = try await stage.get(ifNoneMatch: condition)
            #expect(response.status == .notModified && response.body.isEmpty)
            #expect(response.headerFields[.etag] == tag && response.headerFields[.vary] == "Accept")
            #expect(response.headerFields[.cacheControl] == "public, max-age=600, immutable")
            #expect(response.headerFields[.contentLength] == nil && response.headerFields[.contentType] == nil)
        }
        #expect(stage.source.asked == ["a"])
        #expect(try await stage.get(ifNoneMatch: "\"x\"").status == .ok)
        #expect(try await stage.get(ifNoneMatch: tag.replacing("\"", with: "")).status == .ok)
        // The tag of another format.
        #expect(try await stage.get(accept: "image/webp", ifNoneMatch: tag).status == .ok)
        let long = String(repeating: "\"x\", ", count: 1_000) + tag
        #expect(try await stage.get(ifNoneMatch: long).status == .ok)
    }

    @Test func conditionIsCheckedForAnImageThatHasToBeLoaded() async throws {
        let tag = try #require(try await ServerStage().get().headerFields[.etag])
        #expect(try await ServerStage().get(ifNoneMatch: tag).status == .notModified)
    }

    @Test func headHasTheFieldsOfGetWithoutTheBody() async throws {
        let stage = try ServerStage()
        let (get, head) = (try await stage.get(), try await stage.get(method: "HEAD"))
        #expect(head.headerFields == get.headerFields && head.status == .ok && head.body.isEmpty)
        let missing = try await stage.get("missing", method: "HEAD")
        #expect(missing.status == .notFound && missing.body.isEmpty && missing.headerFields[.contentLength] != "0")
        let tag = get.headerFields[.etag]
        #expect(try await stage.get(method: "HEAD", ifNoneMatch: tag).status == .notModified)
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "get", "", "GET\u{0}"])
    func otherMethodsAreNotAllowed(method: String) async throws {
        let stage = try ServerStage()
        let response = try await stage.get(method: method)
        #expect(response.status == .methodNotAllowed && response.headerFields[.allow] == "GET, HEAD")
        #expect(response.headerFields[.vary] == "Accept" && response.headerFields[.cacheControl] == "no-store")
        #expect(stage.source.asked.isEmpty)
    }

    @Test func cachesKeepAnImageNoLongerThanItsURLIsValid() async throws {
        let stage = try ServerStage()
        #expect(try await stage.get(lasting: 60).headerFields[.cacheControl] == "public, max-age=60, immutable")
        #expect(
            try await stage.get(lasting: 60, after: 59).headerFields[.cacheControl] == "public, max-age=1, immutable"
        )
        #expect(try await stage.get(lasting: 6_000).headerFields[.cacheControl] == "public, max-age=600, immutable")
        #expect(try await stage.get(lasting: 60, after: 60).status == 410)
    }

    @Test func imageIsLoadedAgainWhenItHasExpired() async throws {
        let stage = try ServerStage()
        _ = try await stage.get()
        // What is left of its lifetime, so that no cache keeps it longer in total.
        #expect(try await stage.get(after: 599).headerFields[.cacheControl] == "public, max-age=1, immutable")
        #expect(stage.source.asked == ["a"])
        #expect(try await stage.get(after: 600).headerFields[.cacheControl] == "public, max-age=600, immutable")
        #expect(stage.source.asked == ["a", "a"])
    }

    @Test func memoryIsLimitedByBytes() async throws {
        let policy = ImageServingPolicy(cacheBytes: 1_400, decodedBytes: 0)
        let stage = try ServerStage(policy: policy)
        for width in 1...3 { _ = try await stage.get("a", "crop=\(width)x1") }
        _ = try await stage.get("a", "crop=3x1")
        #expect(stage.codec.encoded.count == 3)
        _ = try await stage.get("a", "crop=1x1")
        #expect(stage.codec.encoded.count == 4)
        let none = try ServerStage(policy: ImageServingPolicy(cacheBytes: 0, decodedBytes: 0))
        for _ in 0..<2 { #expect(try await none.get().status == .ok) }
        #expect(none.codec.encoded.count == 2)
    }

    @Test func forgottenImageIsLoadedAgain() async throws {
        let source = SketchSource(["a": SketchCodec.bytes(8, 4), "b": SketchCodec.bytes(8, 4)])
        let stage = try ServerStage(source, policy: ImageServingPolicy())
        for address in ["a", "b"] as [ImageAddress] { _ = try await stage.get(address) }
        await stage.server.forget("a")
        for address in ["a", "b"] as [ImageAddress] { _ = try await stage.get(address) }
        #expect(source.asked == ["a", "b", "a"])
    }

    @Test func extremePoliciesDoNotCrash() async throws {
        let policy = ImageServingPolicy(
            maximumAge: .seconds(Int64.max),
            cacheBytes: .max,
            decodedBytes: -1,
            version: .min
        )
        let response = try await ServerStage(policy: policy).get(lasting: 9e10)
        #expect(response.headerFields[.cacheControl] == "public, max-age=315360000, immutable")
        let none = try ServerStage(policy: ImageServingPolicy(maximumAge: .seconds(-1), cacheBytes: -1))
        #expect(try await none.get().headerFields[.cacheControl] == "public, max-age=0, immutable")
    }

    @Test func keysAreStable() throws {
        let image = SignedImage(address: "avatars/7.jpg", recipe: try ImageRecipe("blur=2.50;orient"), expiry: nil)
        let choices = ["image/webp", "*/*"].map { ServerStage.formats.choice(accept: [$0]) }
        let keys = choices.map { ImageVariantKey(image, $0, version: 3).description }
        #expect(
            keys == [
                "1.3 image/webp,75,quarter blur=2.5;orient avatars/7.jpg",
                "1.3 image/jpeg,82,quarter+image/png,80,quarter blur=2.5;orient avatars/7.jpg",
            ]
        )
    }
}
