#if Vips
import Foundation
import InwardCore
import InwardFetching
import InwardImageServing
import InwardImages
import InwardTesting
import InwardVips
import Testing

/// Watermarks in an image server with the typesetter and the codec of this library.
@Suite(.timeLimit(.minutes(5)))
struct WatermarkServingTests {
    private struct BlackImage: ImageSource {
        let bytes: [UInt8]

        func image(at address: ImageAddress, upTo limit: Int) async throws(ImageError) -> EncodedImage {
            EncodedImage(bytes)
        }
    }

    /// An authenticator for tests. Its codes are not secure.
    private struct StubAuthenticator: MessageAuthenticator {
        func authenticationCode(for message: [UInt8]) -> [UInt8] {
            let hash = message.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
            return (0..<16).map { UInt8(truncatingIfNeeded: hash >> ($0 % 8 * 8)) }
        }

        func isValidAuthenticationCode(_ code: [UInt8], for message: [UInt8]) -> Bool {
            code == authenticationCode(for: message)
        }
    }

    private let codec = VipsImageCodec()
    private let errors = RecordingErrorHandler()

    /// Returns the response of a server to a request for a black image with a text.
    private func response(_ text: String, _ typesetter: (any Typesetter)?) async throws -> DataResponse {
        let key = try #require(ImageSigningKey(id: "k1", StubAuthenticator()))
        let signer = ImageURLSigner(signingWith: key)
        let black = Image(size: ImageSize(clamping: 320, 120), color: .black)
        let server = ImageServer(
            source: BlackImage(bytes: try codec.bytes(of: black, as: .png)),
            codec: codec,
            signer: signer,
            formats: ImageFormatNegotiation(opaque: .png),
            typesetter: typesetter,
            digest: { StubAuthenticator().authenticationCode(for: $0) },
            errorHandler: errors
        )
        let mark = ImageRecipe.TextWatermark(text, at: .single(.center), widthPercent: 80, opacityPercent: 100)
        let recipe = try ImageRecipe(steps: [.watermark(mark)], hasTypesetter: true)
        let request = ImageRequest(path: try signer.path(to: "black", recipe))
        return await server.response(to: request, at: Date(timeIntervalSince1970: 1_800_000_000))
    }

    @Test(arguments: ["안녕하세요", "سلام", "Example"])
    func textOfAnyScriptIsServed(text: String) async throws {
        let response = try await response(text, PangoTypesetter())
        try #require(response.status == .ok && errors.errors.isEmpty, "\(errors.errors)")
        let image = try codec.image(from: [UInt8](response.body), ImageDecodingOptions())
        let columns = (0..<320).filter { x in (0..<120).contains { image[x, $0].red > 200 } }
        #expect(columns.count > 60)
        let (left, right) = (try #require(columns.first), try #require(columns.last))
        #expect(left >= 30 && right < 290)
    }

    @Test func characterThatNoFontHasIsReportedByName() async throws {
        let response = try await response("한\u{10FFFD}", PangoTypesetter())
        #expect(response.status == 422)
        let words = "no installed font has '\u{10FFFD}'"
        #expect(String(decoding: response.body, as: UTF8.self).contains(words))
        let error = try #require(errors.errors.first as? ImageURLError)
        #expect(error.description.contains(words), "\(error)")
    }

    @Test func textIsAnErrorWithoutATypesetter() async throws {
        let response = try await response("한글", nil)
        #expect(response.status == 422)
        #expect(
            String(decoding: response.body, as: UTF8.self).contains(
                "printable ASCII characters only, and lacks '한', '글'"
            )
        )
    }
}
#endif
