import InwardCore
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

/// Tests what the server answers without an image.
@Suite(.timeLimit(.minutes(5)))
struct ImageServerFailureTests {
    private func policy(_ placeholder: ErrorPlaceholder) -> ImageServingPolicy {
        ImageServingPolicy(decodedBytes: 0, placeholder: placeholder)
    }

    @Test func forgedURLGetsAProblemThatSaysNothingElse() async throws {
        let stage = try ServerStage(policy: policy(.color(.black)))
        var bodies: Set<Data> = []
        let path = try stage.signer.path(to: "a", ImageRecipe("orient"), expiry: ServerStage.now)
        for forged in [path.replacing("orient", with: "grayscale"), "k1.AAAA/orient/YQ", "k9.AAAA/;;/YQ", "", "\u{0}"] {
            let response = await stage.get(path: forged)
            #expect(response.status == 403 && response.headerFields[.cacheControl] == "no-store")
            #expect(response.headerFields[.contentType] == "application/problem+json")
            #expect(response.headerFields[.vary] == "Accept" && response.headerFields[.etag] == nil)
            #expect(response.headerFields[.contentSecurityPolicy] == "default-src 'none'")
            bodies.insert(response.body)
        }
        #expect(bodies.count == 1)
        #expect(stage.source.asked.isEmpty && stage.codec.encoded.isEmpty)
        #expect(
            stage.errors.errors.compactMap { $0 as? ImageURLError }.map(\.reason)
                == Array(repeating: .invalidSignature, count: 5)
        )
    }

    @Test func forgedURLIsRefusedEvenIfItsImageIsInMemory() async throws {
        let stage = try ServerStage()
        _ = try await stage.get("a", "orient")
        #expect(await stage.get(path: "k1.AAAAAAAAAAAAAAAAAAAAAA/orient/YQ", ifNoneMatch: "*").status == 403)
    }

    @Test func expiredURLIsGone() async throws {
        let stage = try ServerStage(policy: policy(.color(.black)))
        let response = try await stage.get(lasting: 10, after: 10)
        #expect(response.status == 410 && response.headerFields[.contentType] == "application/problem+json")
        #expect(response.headerFields[.vary] == "Accept" && response.headerFields[.cacheControl] == "no-store")
        #expect(stage.source.asked.isEmpty)
    }

    @Test(arguments: [
        (ImageError.Reason.notFound, 404), (.denied, 403), (.unavailable, 503), (.tooLarge, 502), (.damaged, 502),
    ])
    func failureHasItsStatusAndAPlaceholderOfTheSizeOfTheRecipe(reason: ImageError.Reason, status: Int) async throws {
        let stage = try ServerStage(policy: policy(.color(Color(gray: 224))))
        stage.source.answer("a", .failure(ImageError(reason, of: "a", explanation: "failed")))
        let response = try await stage.get("a", "resize=64x48;grayscale")
        #expect(response.status.code == status && response.text == "image/jpeg q82 64×48")
        #expect(
            response.headerFields[.contentType] == "image/jpeg" && response.headerFields[.cacheControl] == "no-store"
        )
        #expect(response.headerFields[.etag] == nil && response.headerFields[.vary] == "Accept")
        #expect(stage.errors.errors.compactMap { $0 as? ImageError }.map(\.reason) == [reason])
        // Not remembered.
        stage.source.answer("a", .success(EncodedImage(SketchCodec.bytes(8, 4))))
        #expect(try await stage.get("a", "resize=64x48;grayscale").status == .ok)
    }

    @Test func placeholderIsEncodedOncePerSizeAndLimited() async throws {
        let stage = try ServerStage(policy: policy(.color(Color(gray: 1, alpha: 9))))
        for recipe in [
            "resize=8192x4096", "resize=8192x4096;blur=1", "grayscale", "crop=10x20;resize=1x8000;crop=5x8100",
        ] {
            _ = try await stage.get("missing", recipe)
        }
        #expect(stage.codec.encoded == ["image/png q80 1024×512", "image/png q80 320×240", "image/png q80 1×1024"])
    }

    @Test func placeholderOfTheCallerIsSentAsItIs() async throws {
        let stage = try ServerStage(policy: policy(.image(Data([1, 2, 3]), mediaType: "image/gif")))
        let response = try await stage.get("missing")
        #expect(response.status == .notFound && response.body == Data([1, 2, 3]))
        #expect(
            response.headerFields[.contentType] == "image/gif" && response.headerFields[.cacheControl] == "no-store"
        )
    }

    @Test func problemIsSentWithoutAPlaceholder() async throws {
        let response = try await ServerStage().get("missing")
        #expect(response.status == .notFound && response.headerFields[.contentType] == "application/problem+json")
        #expect(response.text.contains("\"status\":404"))
    }

    @Test func formatThatTheCodecCannotWriteIsAnError() async throws {
        let formats = ImageFormatNegotiation(opaque: ImageEncoding(.gif), transparent: nil)
        let stage = try ServerStage(formats: formats, policy: policy(.color(.black)))
        let response = try await stage.get()
        // Not even the placeholder can be written.
        #expect(response.status == 502 && response.headerFields[.contentType] == "application/problem+json")
        #expect(stage.errors.errors.count == 1)
    }

    @Test func signedRecipeOfAnotherVersionIsRefused() async throws {
        let key = try #require(ImageSigningKey(id: "k1", TrustingAuthenticator()))
        let server = ImageServer(
            source: SketchSource(),
            codec: LabelCodec(),
            signer: ImageURLSigner(signingWith: key),
            digest: { $0 },
            errorHandler: IgnoringErrorHandler()
        )
        for path in ["k1.AAAA/flip/YQ", "k1.AAAA/orient/AA"] {
            #expect(await server.response(to: ImageRequest(path: path), at: ServerStage.now).status == 422)
        }
    }

    @Test func substituteIsSentButNotCached() async throws {
        let store = DictionaryStore()
        let stage = try ServerStage(store: store)
        stage.source.answer("a", .success(EncodedImage(SketchCodec.bytes(1, 1), isGenuine: false)))
        let substitute = try await stage.get()
        #expect(substitute.status == .ok && substitute.text == "image/jpeg q82 1×1")
        #expect(substitute.headerFields[.cacheControl] == "no-store" && substitute.headerFields[.etag] == nil)
        #expect(substitute.headerFields[.vary] == "Accept")
        #expect(try await stage.get(ifNoneMatch: "*").status == .ok)
        stage.source.answer("a", .success(EncodedImage(SketchCodec.bytes(8, 4))))
        #expect(try await stage.get().text == "image/jpeg q82 8×4")
        #expect(store.inserted == 1)
    }

    @Test(arguments: [
        "../secret.png", "avatars/../../secret.png", "%2e%2e/secret.png", "..%2fsecret.png", "/etc/passwd",
        "//internal.test/a",
    ])
    func signedAddressCannotLeaveTheBaseURL(address: String) async throws {
        let fetcher = RecordingDataFetcher(StubDataFetcher(DataResponse(body: Data(SketchCodec.bytes(8, 4)))))
        let source = FetchingImageSource(fetcher, relativeTo: URL(string: "http://upstream.test/images"))
        let stage = try ServerStage(over: source)
        #expect(try await stage.get(ImageAddress(address)).status == .notFound)
        #expect(fetcher.requests.isEmpty)
        #expect(try await stage.get("avatars/7.png").status == .ok)
    }

    @Test func hostileFieldsDoNotChangeTheAnswer() async throws {
        let stage = try ServerStage()
        let expected = try await stage.get()
        for value in [
            "\u{0}", String(repeating: ",;/\"\\", count: 200_000),
            "image/webp;q=\(String(repeating: "9", count: 5_000))", "🖼️/*",
        ] {
            let response = try await stage.get(accept: value, ifNoneMatch: value)
            #expect(response.status == .ok && response.body == expected.body)
        }
    }
}
