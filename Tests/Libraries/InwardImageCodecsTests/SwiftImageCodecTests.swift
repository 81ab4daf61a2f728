import InwardImageCodecs
import InwardImages
import Testing

struct SwiftImageCodecTests {
    private func error(_ bytes: [UInt8]) -> ImageCodecError? {
        do throws(ImageCodecError) {
            _ = try SwiftImageCodec().header(of: bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test func pngSurvivesARoundTrip() throws {
        let bytes = try Fixture.bytes("coloralpha8")
        let image = try SwiftImageCodec().image(from: bytes, ImageDecodingOptions())
        #expect(try SwiftImageCodec().header(of: bytes).size == image.size)
        let written = try SwiftImageCodec().bytes(of: image, as: .png)
        #expect(try SwiftImageCodec().image(from: written, ImageDecodingOptions()) == image)
    }

    private static let formatsOfVips: [(start: String, format: ImageFormat)] = [
        ("RIFF1234WEBPVP8 ", .webP), ("GIF89a", .gif), ("\0\0\0\u{10}ftypavif\0\0\0\0", .avif),
        ("\0\0\0\u{10}ftypheic\0\0\0\0", .heif), ("II*\0", .tiff),
    ]
    private static let formatsOfNoCodec: [(start: String, format: ImageFormat)] = [
        ("<svg/>", .svg), ("BM", .bmp), ("\0\0\u{1}\0", .ico), ("8BPS", .psd),
        ("\0\0\0\u{C}jP  \r\n\u{87}\n", .jpeg2000), ("\0\0\0\u{C}JXL \r\n\u{87}\n", .jpegXL),
    ]

    private func errorOfEncoding(_ format: ImageFormat) -> ImageCodecError? {
        do throws(ImageCodecError) {
            _ = try SwiftImageCodec().bytes(of: Image(size: ImageSize(clamping: 1, 1)), as: ImageEncoding(format))
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: formatsOfVips)
    func errorNamesTheTraitForFormatsThatVipsSupports(start: String, format: ImageFormat) {
        let decoding = "is in \(format), which cannot be decoded without VipsImageCodec (package trait Vips)"
        let encoding = "cannot be encoded as \(format) without VipsImageCodec (package trait Vips)"
        #expect(error(Array(start.utf8)) == ImageCodecError(.unsupported(format), decoding))
        #expect(errorOfEncoding(format) == ImageCodecError(.unsupported(format), encoding))
    }

    @Test(arguments: formatsOfNoCodec)
    func errorNamesNoTraitForFormatsThatNoCodecSupports(start: String, format: ImageFormat) {
        let bytes = start.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        let decoding = "is in \(format), which no codec of this package supports"
        let encoding = "cannot be encoded as \(format), which no codec of this package supports"
        #expect(error(bytes) == ImageCodecError(.unsupported(format), decoding))
        #expect(errorOfEncoding(format) == ImageCodecError(.unsupported(format), encoding))
    }

    @Test(arguments: [
        "", "{\"token\": \"secret\"}", "secret", "<!DOCTYPE html><title>secret</title>", "\0\u{1B}[secret",
    ])
    func bytesOfUnknownFormatAreNotQuoted(body: String) {
        let bytes = Array(body.utf8)
        let explanation =
            "is not in a known image format: its \(bytes.count) bytes begin with no known signature"
        #expect(error(bytes) == ImageCodecError(.unrecognized, explanation))
    }
}
