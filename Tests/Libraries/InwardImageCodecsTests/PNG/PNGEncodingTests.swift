import InwardImages
import InwardTesting
import Testing

@testable import InwardImageCodecs

struct PNGEncodingTests {
    private func size(_ width: Int, _ height: Int) -> ImageSize { ImageSize(clamping: width, height) }

    /// Returns an image with the colors that a function returns.
    private func sketch(_ width: Int, _ height: Int, _ color: (Int, Int) -> Color) -> Image {
        Image(size: size(width, height)) { pixels in
            for y in 0..<height {
                for x in 0..<width {
                    let (start, color) = ((y * width + x) * 4, color(x, y))
                    pixels[start] = color.red
                    pixels[start + 1] = color.green
                    pixels[start + 2] = color.blue
                    pixels[start + 3] = color.alpha
                }
            }
        }
    }

    private func coded(_ image: Image) throws -> (image: Image, depth: UInt8, kind: UInt8) {
        let bytes = try PNGCodec().bytes(of: image, as: .png)
        return (try PNGCodec().image(from: bytes, ImageDecodingOptions()), bytes[24], bytes[25])
    }

    @Test(arguments: 0..<6)
    func randomImagesSurviveARoundTrip(round: Int) throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SplitMix64(seed: seed)
        for _ in 0..<8 {
            let (width, height) = (Int.random(in: 1...70, using: &generator), Int.random(in: 1...50, using: &generator))
            let colors = [1, 2, 3, 5, 16, 17, 200, 256, 257, 1_000].randomElement(using: &generator) ?? 1
            let (gray, opaque) = (Bool.random(using: &generator), Bool.random(using: &generator))
            let palette = (0..<colors).map { _ in
                let (level, alpha) = (
                    UInt8.random(in: 0...255, using: &generator), UInt8.random(in: 0...255, using: &generator)
                )
                return Color(
                    red: level,
                    green: gray ? level : UInt8.random(in: 0...255, using: &generator),
                    blue: gray ? level : UInt8.random(in: 0...255, using: &generator),
                    alpha: opaque ? 255 : alpha
                )
            }
            var last = palette[0]
            let image = sketch(width, height) { _, _ in
                if Int.random(in: 0..<3, using: &generator) > 0 {
                    last = palette.randomElement(using: &generator) ?? last
                }
                return last
            }
            #expect(try coded(image).image == image, "seed \(seed)")
        }
    }

    @Test func smallestPixelFormatIsChosen() throws {
        let color = try coded(sketch(64, 64) { Color(red: UInt8($0 * 4), green: UInt8($1 * 4), blue: 7) })
        #expect(color.kind == 2 && color.depth == 8)
        let colorAlpha = try coded(
            sketch(64, 64) { Color(red: UInt8($0 * 4), green: UInt8($1 * 4), blue: 7, alpha: 9) }
        )
        #expect(colorAlpha.kind == 6 && colorAlpha.depth == 8)
        let gray = try coded(sketch(64, 64) { Color(gray: UInt8($0 + $1)) })
        #expect(gray.kind == 0 && gray.depth == 8)
        let grayAlpha = try coded(sketch(64, 64) { Color(gray: UInt8($0 * 4), alpha: UInt8($1 * 4)) })
        #expect(grayAlpha.kind == 4 && grayAlpha.depth == 8)
        for (count, depth) in [(2, 1), (4, 2), (16, 4), (17, 8)] as [(Int, UInt8)] {
            let palette = try coded(sketch(64, 64) { Color(red: UInt8(($0 + $1) % count), green: 1, blue: 2) })
            #expect(palette.kind == 3 && palette.depth == depth)
        }
    }

    @Test func largeImageSurvivesARoundTripAndIsCompressed() throws {
        let image = sketch(300, 200) { x, y in
            Color(red: UInt8((x * y) & 255), green: UInt8((x / 7 * 31) & 255), blue: UInt8((x + y) & 255))
        }
        let bytes = try PNGCodec().bytes(of: image, as: .png)
        #expect(try PNGCodec().image(from: bytes, ImageDecodingOptions()) == image)
        #expect(bytes.count < image.bytes.count / 3)
    }

    @Test(arguments: Orientation.allCases)
    func orientationIsEncoded(orientation: Orientation) throws {
        let image = Image(size: size(2, 3), orientation: orientation) { pixels in pixels[0] = 1 }
        let bytes = try PNGCodec().bytes(of: image, as: .png)
        #expect(try PNGCodec().header(of: bytes).orientation == orientation)
        #expect(try PNGCodec().image(from: bytes, ImageDecodingOptions()) == image)
        #expect(PNGFile(parsing: bytes).chunks.contains { $0.name == "eXIf" } == (orientation != .up))
    }

    @Test func chunksHaveValidChecksums() throws {
        let bytes = try PNGCodec().bytes(of: Image(size: size(5, 5), color: .white), as: .png)
        #expect(PNGFile(parsing: bytes).bytes == bytes)
    }

    @Test func otherFormatIsRejected() {
        #expect {
            try PNGCodec().bytes(of: Image(size: size(1, 1)), as: .jpeg())
        } throws: {
            ($0 as? ImageCodecError)?.reason == .unsupported(.jpeg)
        }
    }
}
