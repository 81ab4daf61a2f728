#if Vips
import Foundation
import InwardImages
import Testing

@testable import InwardVips

@Suite(.timeLimit(.minutes(10)))
struct VipsImageCodecTests {
    private let codec = VipsImageCodec()

    private func bytes(_ base64: String) throws -> [UInt8] {
        [UInt8](try #require(Data(base64Encoded: base64)))
    }

    private func reason(_ work: () throws -> Void) -> ImageCodecError.Reason? {
        do { try work() } catch { return (error as? ImageCodecError)?.reason }
        return nil
    }

    /// Squares in red, green and blue above white, clear and black. Each has 8 pixels per side, so that no format mixes their
    /// colors.
    private var squares: Image {
        Image(size: ImageSize(clamping: 24, 16)) { pixels in
            let colors: [[Color]] = [
                [
                    Color(red: 255, green: 0, blue: 0), Color(red: 0, green: 255, blue: 0),
                    Color(red: 0, green: 0, blue: 255),
                ],
                [.white, .clear, .black],
            ]
            for index in 0..<24 * 16 {
                let color = colors[index / 24 / 8][index % 24 / 8]
                pixels[index * 4] = color.red
                pixels[index * 4 + 1] = color.green
                pixels[index * 4 + 2] = color.blue
                pixels[index * 4 + 3] = color.alpha
            }
        }
    }

    @Test(arguments: [ImageFormat.gif, .avif, .heif])
    func formatWithoutOrientationIsEncodedUpright(format: ImageFormat) throws {
        var image = squares
        image.orientation = .right
        let read = try codec.image(
            from: codec.bytes(of: image, as: ImageEncoding(format, quality: 95, subsampling: .none)),
            ImageDecodingOptions()
        )
        #expect(read.orientation == .up)
        #expect(read.size == ImageSize(width: 16, height: 24))
        // Rotated clockwise: the left side is now at the top, and the bottom at the left.
        #expect(read[12, 4].red > 200 && read[12, 4].green < 50 && read[12, 4].alpha == 255)
        #expect(read[4, 4].red > 200 && read[4, 4].green > 200)
        #expect(read[4, 12].alpha < 20)
        #expect(read[12, 20].blue > 200)
    }

    @Test func clearPixelsAreWhiteInJPEG() throws {
        let read = try codec.image(
            from: codec.bytes(of: squares, as: .jpeg(quality: 95, subsampling: .none)),
            ImageDecodingOptions()
        )
        #expect(read.isOpaque)
        #expect(read[12, 12].red > 245 && read[12, 12].green > 245 && read[12, 12].blue > 245)
        #expect(read[20, 12].red < 10)
    }

    @Test func lowerQualityGivesFewerBytes() throws {
        for format in [ImageFormat.jpeg, .webP, .avif] {
            let sizes = try [20, 95].map { try codec.bytes(of: squares, as: ImageEncoding(format, quality: $0)).count }
            #expect(sizes[0] < sizes[1], "\(format)")
        }
    }

    @Test func sixteenBitGraysAreRoundedToEightBits() throws {
        // Two pixels: a medium gray with an opacity of a quarter, and white.
        let read = try codec.image(
            from: bytes(
                "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABEAQAAAAOu2tCAAAAD0lEQVR4nGNoaHBw+A8EABQ/BX2rTVrXAAAAAElFTkSuQmCC"
            ),
            ImageDecodingOptions()
        )
        #expect(read.size == ImageSize(width: 2, height: 1))
        #expect(read[0, 0] == Color(gray: 0x80, alpha: 0x40))
        #expect(read[1, 0] == .white)
    }

    @Test func firstOfSeveralImagesIsDecoded() throws {
        // Two frames of one pixel, a red one and a blue one.
        let animation: [UInt8] =
            Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255]
            + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 0x01, 0]
            + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x4C, 0x01, 0] + [0x3B]
        let header = try codec.header(of: animation)
        #expect(header.format == .gif)
        #expect(header.size == ImageSize(width: 1, height: 1))
        let read = try codec.image(from: animation, ImageDecodingOptions())
        #expect(read.size == header.size)
        #expect(read[0, 0] == Color(red: 255, green: 0, blue: 0))
    }

    @Test(arguments: [
        "<svg xmlns='http://www.w3.org/2000/svg' width='2' height='2'><rect width='2' height='2'/></svg>",
        "P3\n1 1\n255\n1 2 3\n", "P6\n1 1\n255\nabc", "%PDF-1.4\n",
        "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 1\nabcd",
    ])
    func formatOfABlockedLoaderIsUnrecognized(text: String) {
        #expect(reason { _ = try codec.header(of: Array(text.utf8)) } == .unrecognized)
        #expect(
            reason { _ = try codec.image(from: Array(text.utf8), ImageDecodingOptions(allowsTruncation: true)) }
                == .unrecognized
        )
    }

    @Test func bigTIFFIsUnsupported() {
        for bytes: [UInt8] in [[0x49, 0x49, 43, 0, 8, 0, 0, 0], [0x4D, 0x4D, 0, 43, 0, 8, 0, 0]] {
            #expect(reason { _ = try codec.header(of: bytes) } == .unsupported(.tiff))
        }
    }

    @Test func cyclicTIFFDirectoriesAreReadOnce() throws {
        let endless = TIFFFile(entries: TIFFFile.pixel, next: 8).bytes
        #expect(try codec.header(of: endless).size == ImageSize(width: 1, height: 1))
        #expect(try codec.image(from: endless, ImageDecodingOptions()).size == ImageSize(width: 1, height: 1))
    }

    @Test func tiffWithTooManyEntriesIsRejected() {
        let entries = [TIFFFile.Entry](repeating: (273, 4, 1_900_000, 800_000), count: 65_535)
        let hostile = TIFFFile(entries: entries, filling: 7_600_000).bytes
        #expect(reason { _ = try codec.header(of: hostile) } == .unsupported(.tiff))
        #expect(reason { _ = try codec.image(from: hostile, ImageDecodingOptions()) } == .unsupported(.tiff))
    }

    @Test func errorDoesNotQuoteAnInvalidHeader() {
        let starts: [[UInt8]] = [
            [], [0xFF, 0xD8, 0xFF, 0xE0, 0, 4], [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], Array("GIF89a".utf8),
            [0x49, 0x49, 42, 0, 8, 0, 0, 0], Array("RIFF\u{20}\0\0\0WEBPVP8 ".utf8), Array("\0\0\0 ftypavif".utf8),
        ]
        for start in starts {
            let bytes = start + Array("{\"token\": \"secret secret secret\"}".utf8)
            let error = #expect(throws: ImageCodecError.self) { try codec.header(of: bytes) }
            #expect(error?.explanation.contains("\(bytes.count) bytes") == true, "\(String(describing: error))")
            #expect(error?.explanation.contains { $0 == "(" || $0 == "\"" } == false)
            #expect(error?.explanation.contains("secret") == false)
        }
    }

    @Test func errorDoesNotQuoteADamagedImage() throws {
        var refused: [ImageFormat] = []
        for format in [ImageFormat.png, .jpeg, .gif, .webP, .tiff] {
            var bytes = try codec.bytes(of: squares, as: ImageEncoding(format, quality: 95))
            let start = bytes.count * 2 / 3
            bytes.replaceSubrange(start..<start + 12, with: Array("\u{FFFD}secret\u{FF}\0".utf8))
            do {
                _ = try codec.image(from: bytes, ImageDecodingOptions())
            } catch {
                refused.append(format)
                let expected = [
                    "has damaged \(format) data, in \(bytes.count) bytes",
                    "has a damaged \(format) header, in \(bytes.count) bytes",
                    "ends after \(bytes.count) bytes, before its \(format) data is complete",
                ]
                #expect(expected.contains(error.explanation), "\(error)")
            }
        }
        #expect(refused.contains(.png) && refused.count >= 3, "\(refused)")
    }

    @Test func imageOverThePixelLimitIsNotDecoded() throws {
        let encoded = try codec.bytes(of: squares, as: .jpeg())
        let smaller = VipsImageCodec(pixelLimit: 24 * 16 / 4)
        #expect(try smaller.header(of: encoded).size == squares.size)
        #expect(reason { _ = try smaller.image(from: encoded, ImageDecodingOptions()) } == .unsupported(.jpeg))
        #expect(try smaller.image(from: encoded, ImageDecodingOptions(reduction: 2)).size.pixelCount == 96)
    }

    @Test func imageOverTheSlowPixelLimitIsNotEncodedInSlowFormats() throws {
        let most = VipsImageCodec(slowPixelLimit: 24 * 16)
        let fewer = VipsImageCodec(slowPixelLimit: 24 * 16 - 1)
        for format in [ImageFormat.avif, .heif] {
            #expect(try !most.bytes(of: squares, as: ImageEncoding(format)).isEmpty)
            let error = #expect(throws: ImageCodecError.self) {
                try fewer.bytes(of: squares, as: ImageEncoding(format))
            }
            #expect(error?.reason == .unencodable(format))
            let explanation = "is 24×16, more than the 383 pixels allowed for \(format)"
            #expect(error?.explanation == explanation)
        }
        for format in [ImageFormat.jpeg, .png, .webP, .gif, .tiff] {
            #expect(try !fewer.bytes(of: squares, as: ImageEncoding(format)).isEmpty)
        }
    }

    @Test func defaultSlowPixelLimitRejectsTwelveMegapixels() {
        let photograph = Image(size: ImageSize(clamping: 4_000, 3_000), color: .white)
        for format in [ImageFormat.avif, .heif] {
            #expect(reason { _ = try codec.bytes(of: photograph, as: ImageEncoding(format)) } == .unencodable(format))
        }
    }

    @Test func closedCodecRejectsCallsAndOtherCodecsContinue() throws {
        let closed = VipsImageCodec()
        let encoded = try closed.bytes(of: squares, as: .png)
        closed.close()
        closed.close()
        #expect(reason { _ = try closed.header(of: encoded) } == .cancelled)
        #expect(reason { _ = try closed.image(from: encoded, ImageDecodingOptions()) } == .cancelled)
        #expect(reason { _ = try closed.bytes(of: squares, as: .png) } == .cancelled)
        #expect(try codec.image(from: encoded, ImageDecodingOptions()) == squares)
    }

    /// The images may be valid, so the error must not say that their format is unknown.
    @Test func codecWithoutLibvipsRejectsCallsAsIfItWereClosed() throws {
        let encoded = try codec.bytes(of: squares, as: .png)
        let codec = VipsImageCodec(withoutLibrary: ())
        #expect(reason { _ = try codec.header(of: encoded) } == .cancelled)
        #expect(reason { _ = try codec.image(from: encoded, ImageDecodingOptions()) } == .cancelled)
        #expect(reason { _ = try codec.bytes(of: squares, as: .png) } == .cancelled)
    }

    @Test func fileWithoutItsEndIsTruncatedEvenIfAllPixelsExist() throws {
        for format in [ImageFormat.png, .jpeg, .gif, .webP, .tiff, .avif] {
            let whole = try codec.bytes(of: squares, as: ImageEncoding(format))
            let short = Array(whole.dropLast())
            #expect(reason { _ = try codec.image(from: short, ImageDecodingOptions()) } == .truncated(format))
        }
    }

    @Test func dataAfterTheEndIsIgnored() throws {
        for format in [ImageFormat.png, .jpeg, .gif] {
            let whole = try codec.bytes(of: squares, as: ImageEncoding(format))
            #expect(
                try codec.image(from: whole + [0, 0xFF, 7], ImageDecodingOptions())
                    == codec.image(from: whole, ImageDecodingOptions())
            )
        }
    }

    @Test func workingBytesCountRowsOrTheWholeImage() throws {
        func workingBytes(_ format: ImageFormat, height: Int) throws -> Int {
            let image = Image(size: ImageSize(clamping: 64, height), color: .white)
            return try codec.header(of: codec.bytes(of: image, as: ImageEncoding(format))).workingBytes
        }
        for format in [ImageFormat.jpeg, .png] {
            #expect(try workingBytes(format, height: 16) == workingBytes(format, height: 512), "\(format)")
        }
        for format in [ImageFormat.webP, .gif, .avif, .tiff] {
            let more = try workingBytes(format, height: 512) - workingBytes(format, height: 16)
            // At least the whole decoded image is counted.
            #expect(more >= 64 * (512 - 16) * 3, "\(format)")
        }
    }

    @Test func truncatedImageIsDecodedPartiallyIfAllowed() throws {
        var image = Image(size: ImageSize(clamping: 64, 64))
        image.update { pixels in
            for index in 0..<pixels.count { pixels[index] = index % 4 == 3 ? 255 : UInt8(index * index % 251) }
        }
        let whole = try codec.bytes(of: image, as: .jpeg(quality: 95))
        let half = Array(whole.prefix(whole.count * 3 / 4))
        #expect(reason { _ = try codec.image(from: half, ImageDecodingOptions()) } == .truncated(.jpeg))
        let read = try codec.image(from: half, ImageDecodingOptions(allowsTruncation: true))
        let complete = try codec.image(from: whole, ImageDecodingOptions())
        #expect(read.size == complete.size)
        #expect(read.bytes.prefix(64 * 4 * 16) == complete.bytes.prefix(64 * 4 * 16))
        #expect(read != complete)
    }
}
#endif
