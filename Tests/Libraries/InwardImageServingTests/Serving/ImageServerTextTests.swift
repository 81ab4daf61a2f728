import InwardFetching
import InwardImages
import InwardTesting
import TestSupport
import Testing

@testable import InwardImageServing

/// Tests watermarks with and without a typesetter.
@Suite(.timeLimit(.minutes(5)))
struct ImageServerTextTests {
    private static let korean = "watermark=7JWI64WV7ZWY7IS47JqU,width=50"

    private func stage(_ typesetter: (any Typesetter)?, store: (any EncodedImageStore)? = nil) throws -> ServerStage {
        try ServerStage(
            SketchSource(["a": SketchCodec.bytes(80, 40)]),
            codec: LabelCodec(countsMarks: true),
            typesetter: typesetter,
            store: store
        )
    }

    @Test func textOfAnyScriptIsDrawnWithATypesetter() async throws {
        let typesetter = StubTypesetter()
        let stage = try stage(typesetter)
        let response = try await stage.get("a", Self.korean)
        // Five boxes, 4 pixels wide and 8 high.
        #expect(response.status == .ok && response.text == "image/jpeg q82 80×40 with 160 others")
        let plain = try await stage.get("a", "orient")
        #expect(plain.text == "image/jpeg q82 80×40")
        #expect(plain.headerFields[.etag] != response.headerFields[.etag])
        #expect(typesetter.asked == ["안녕하세요"] && stage.errors.errors.isEmpty)
    }

    @Test func textIsAnErrorWithoutATypesetter() async throws {
        let stage = try stage(nil)
        let response = try await stage.get("a", Self.korean)
        #expect(response.status == 422 && response.text.contains("printable ASCII characters only"))
        #expect(response.text.contains("안") && response.headerFields[.cacheControl] == "no-store")
        #expect(stage.source.asked.isEmpty && stage.codec.encoded.isEmpty)
        #expect(stage.errors.errors.compactMap { $0 as? ImageURLError }.map(\.reason) == [.invalidRecipe])
        #expect(try await stage.get("a", "watermark=YQ").status == .ok)
    }

    @Test func typesetterIsNotAskedAgainForAnImageInMemory() async throws {
        let typesetter = StubTypesetter()
        let stage = try stage(typesetter)
        let first = try await stage.get("a", Self.korean)
        #expect(try await stage.get("a", Self.korean) == first)
        let tag = first.headerFields[.etag]
        #expect(try await stage.get("a", Self.korean, ifNoneMatch: tag).status == .notModified)
        #expect(typesetter.asked.count == 1)
    }

    @Test func characterThatNoFontHasIsReportedAndNothingIsLoaded() async throws {
        let stage = try stage(StubTypesetter())
        let response = try await stage.get("a", "watermark=YeKYkg")
        #expect(response.status == 422 && response.headerFields[.cacheControl] == "no-store")
        #expect(response.text.contains("its text cannot be drawn: no installed font has '☒'"))
        #expect(stage.source.asked.isEmpty && stage.codec.encoded.isEmpty)
        let errors = stage.errors.errors.compactMap { $0 as? ImageURLError }
        #expect(errors.map(\.reason) == [.invalidRecipe] && stage.errors.errors.count == 1)
        #expect(errors.first?.description.contains("no installed font has '☒'") == true)
    }

    /// The client has to change the recipe, and a placeholder could not say why.
    @Test func textThatCannotBeDrawnHasNoPlaceholder() async throws {
        let policy = ImageServingPolicy(decodedBytes: 0, placeholder: .color(Color(gray: 224)))
        for error in [TypesettingError.missing(["☒"]), TypesettingError(.invalidText, "is empty")] {
            let stage = try ServerStage(policy: policy, typesetter: StubTypesetter(failure: error))
            let response = try await stage.get("a", Self.korean)
            #expect(response.status == 422 && response.headerFields[.contentType] == "application/problem+json")
            #expect(response.text.contains("its text \(error.explanation)."))
        }
        let stage = try ServerStage(policy: policy, typesetter: StubTypesetter(failure: .timedOut))
        let response = try await stage.get("a", Self.korean)
        #expect(response.status == 503 && response.headerFields[.contentType] == "image/jpeg")
    }

    @Test(arguments: [
        (TypesettingError(.unavailable, "cannot be typeset"), 503), (.timedOut, 503), (.cancelled, 503),
    ])
    func failureOfTheTypesetterHasItsStatus(error: TypesettingError, status: Int) async throws {
        let stage = try stage(StubTypesetter(failure: error))
        #expect(try await stage.get("a", Self.korean).status.code == status)
        #expect(stage.errors.errors.count == (error.reason == .cancelled ? 0 : 1))
    }

    /// Servers with and without a typesetter draw the same recipe differently, and may share a store.
    @Test func imagesOfATypesetterHaveKeysOfTheirOwn() async throws {
        let store = DictionaryStore()
        let (without, with) = (try stage(nil, store: store), try stage(StubTypesetter(), store: store))
        let first = try await without.get("a", "watermark=YQ,width=50").text
        let second = try await with.get("a", "watermark=YQ,width=50").text
        #expect(first != second)
        #expect(try await stage(nil, store: store).get("a", "watermark=YQ,width=50").text == first)
        #expect(try await stage(StubTypesetter(), store: store).get("a", "watermark=YQ,width=50").text == second)
        // Without a text, they look the same.
        _ = try await without.get("a", "grayscale")
        _ = try await with.get("a", "grayscale")
        #expect(with.codec.encoded.count == 1)
    }

    @Test func keysAreStable() throws {
        let choice = ServerStage.formats.choice(accept: ["image/webp"])
        func key(_ recipe: String) throws -> String {
            let recipe = try ImageRecipe(recipe, hasTypesetter: true)
            let image = SignedImage(address: "a", recipe: recipe, expiry: nil)
            return ImageVariantKey(image, choice, version: 3, hasTypesetter: true).description
        }
        #expect(try key("watermark=2LPZhNin2YU") == "1.3 typeset image/webp,75,quarter watermark=2LPZhNin2YU a")
        #expect(try key("orient") == "1.3 image/webp,75,quarter orient a")
    }

    @Test func signedPathIsVerifiedWithATypesetter() throws {
        let signer = try ImageURLSigner.stub()
        let recipe = try ImageRecipe(Self.korean, hasTypesetter: true)
        let path = try signer.path(to: "a", recipe)
        #expect(try signer.verify(path, at: ServerStage.now, hasTypesetter: true).recipe == recipe)
        let error = #expect(throws: ImageURLError.self) { try signer.verify(path, at: ServerStage.now) }
        #expect(error?.reason == .invalidRecipe)
        #expect(path.utf8.allSatisfy { $0 < 0x80 && $0 != UInt8(ascii: "%") })
    }
}
