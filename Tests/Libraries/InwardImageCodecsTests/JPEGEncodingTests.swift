import Foundation
import InwardImageCodecs
import InwardImages
import InwardTesting
import Testing

struct JPEGEncodingTests {
    private let codec = JPEGCodec()

    @Test(arguments: [ImageEncoding.Subsampling.none, .half, .quarter], [(67, 45), (1, 1), (16, 17), (7, 9)])
    func encodedImageIsCloseToTheOriginal(_ subsampling: ImageEncoding.Subsampling, _ sides: (Int, Int)) throws {
        let image = try waves(sides.0, sides.1)
        let bytes = try codec.bytes(of: image, as: .jpeg(quality: 90, subsampling: subsampling))
        let read = try codec.image(from: bytes, ImageDecodingOptions())
        try #require(read.size == image.size)
        #expect(noise(read, image) > (subsampling == .none ? 38 : 34))
    }

    @Test func higherQualityLosesLess() throws {
        let image = try waves(64, 48)
        let noises = try [10, 50, 80, 95, 100].map { quality in
            let bytes = try codec.bytes(of: image, as: .jpeg(quality: quality, subsampling: .none))
            return noise(try codec.image(from: bytes, ImageDecodingOptions()), image)
        }
        #expect(noises == noises.sorted())
        #expect(noises[4] > 45)
    }

    @Test func extremeLevelsAreEncoded() throws {
        let image = try #require(
            Image(
                size: ImageSize(clamping: 24, 24),
                bytes: (0..<24 * 24).flatMap { pixel in
                    let level: UInt8 = (pixel / 24 + pixel) % 2 == 0 ? 255 : 0
                    return [level, 255 - level, level, 255]
                }
            )
        )
        let bytes = try codec.bytes(of: image, as: .jpeg(quality: 100, subsampling: .none))
        #expect(noise(try codec.image(from: bytes, ImageDecodingOptions()), image) > 35)
    }

    @Test func noiseIsEncodedInSeveralPieces() throws {
        // A row of MCUs is larger than the buffer of the encoder, and many bytes look like markers.
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SplitMix64(seed: seed)
        let size = ImageSize(clamping: 3_001, 17)
        let bytes = (0..<4 * size.pixelCount).map { index in
            index % 4 == 3 ? 255 : UInt8.random(in: 0...255, using: &generator)
        }
        let image = try #require(Image(size: size, bytes: bytes))
        let encoded = try codec.bytes(of: image, as: .jpeg(quality: 100, subsampling: .none))
        #expect(encoded.count > 100_000, "seed \(seed)")
        #expect(noise(try codec.image(from: encoded, ImageDecodingOptions()), image) > 40, "seed \(seed)")
    }

    @Test func grayImageHasOneComponent() throws {
        let gray = Image(size: ImageSize(clamping: 20, 10), color: Color(gray: 77))
        let bytes = try codec.bytes(of: gray, as: .jpeg())
        let frame = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC0 })
        #expect(bytes[frame + 9] == 1)
        #expect(try codec.image(from: bytes, ImageDecodingOptions()) == gray)
    }

    @Test func translucentPixelsAreBlendedWithWhite() throws {
        let image = Image(size: ImageSize(clamping: 16, 16), color: Color(red: 255, green: 0, blue: 0, alpha: 128))
        let bytes = try codec.bytes(of: image, as: .jpeg(quality: 100))
        let color = try codec.image(from: bytes, ImageDecodingOptions())[5, 5]
        #expect(abs(Int(color.red) - 255) <= 2)
        #expect(abs(Int(color.green) - 127) <= 2)
        #expect(abs(Int(color.blue) - 127) <= 2)
        #expect(color.alpha == 255)
    }

    @Test(arguments: Orientation.allCases)
    func orientationIsEncoded(_ orientation: Orientation) throws {
        var image = Image(size: ImageSize(clamping: 3, 2), color: .black)
        image.orientation = orientation
        let bytes = try codec.bytes(of: image, as: .jpeg())
        #expect(try codec.header(of: bytes).orientation == orientation)
        #expect(bytes.contains(Array("Exif".utf8)) == (orientation != .up))
    }

    @Test func otherFormatsAndTooLongSidesAreRejected() {
        let image = Image(size: ImageSize(clamping: 65_536, 1))
        let other = #expect(throws: ImageCodecError.self) { _ = try codec.bytes(of: image, as: .png) }
        #expect(other?.reason == .unsupported(.png))
        let long = #expect(throws: ImageCodecError.self) { _ = try codec.bytes(of: image, as: .jpeg()) }
        #expect(long?.reason == .unencodable(.jpeg))
    }

    private func waves(_ width: Int, _ height: Int) throws -> Image {
        let bytes = (0..<width * height).flatMap { pixel -> [UInt8] in
            let (x, y) = (Double(pixel % width), Double(pixel / width))
            return [
                UInt8(128 + 100 * sin(x / 9)), UInt8(128 + 90 * cos(y / 11)), UInt8(128 + 80 * sin((x + y) / 13)), 255,
            ]
        }
        return try #require(Image(size: ImageSize(clamping: width, height), bytes: bytes))
    }

    /// Returns the peak signal-to-noise ratio, in decibels.
    private func noise(_ image: Image, _ original: Image) -> Double {
        let squares = zip(image.bytes, original.bytes).map { pow(Double($0) - Double($1), 2) }
        let mean = squares.reduce(0, +) / Double(3 * image.size.pixelCount)
        return mean == 0 ? .infinity : 10 * log10(255 * 255 / mean)
    }
}
