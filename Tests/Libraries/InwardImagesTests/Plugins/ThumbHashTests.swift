import InwardTesting
import TestSupport
import Testing

@testable import InwardImages

struct ThumbHashTests {
    private static let examples: [(image: Image, hash: [UInt8], blur: [UInt8], mean: [UInt8])] = [
        (.smooth(40, 22), Expected.landscapeHash, Expected.landscapeBlur, Expected.landscapeMean),
        (.smooth(9, 31), Expected.portraitHash, Expected.portraitBlur, Expected.portraitMean),
        (.smooth(20, 24, opaque: false), Expected.clearHash, Expected.clearBlur, Expected.clearMean),
        (.sample(13, 10, opaque: true), Expected.noiseHash, Expected.noiseBlur, Expected.noiseMean),
        (.sample(10, 13), Expected.clearNoiseHash, Expected.clearNoiseBlur, Expected.clearNoiseMean),
        (.sample(11, 11, opaque: true), Expected.squareHash, Expected.squareBlur, Expected.squareMean),
    ]

    @Test(arguments: examples.indices)
    func bytesFollowTheFormat(index: Int) throws {
        let example = Self.examples[index]
        #expect(try ThumbHash(of: example.image).bytes == example.hash)
    }

    @Test(arguments: examples.indices)
    func previewIsTheSumOfTheWaves(index: Int) throws {
        let example = Self.examples[index]
        let hash = try #require(ThumbHash(bytes: example.hash))
        let blur = hash.image()
        var every: [UInt8] = []
        for y in stride(from: 0, to: blur.size.height, by: 4) {
            for x in stride(from: 0, to: blur.size.width, by: 4) {
                let color = blur[x, y]
                every += [color.red, color.green, color.blue, color.alpha]
            }
        }
        #expect(every.count == example.blur.count)
        #expect(zip(every, example.blur).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
        let mean = hash.averageColor
        let parts = [mean.red, mean.green, mean.blue, mean.alpha]
        #expect(zip(parts, example.mean).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
    }

    /// An opaque pixel, and a translucent one.
    @Test(arguments: [255, 77] as [UInt8]) func averageColorOfOnePixelIsItsColor(alpha: UInt8) throws {
        let color = Color(red: 200, green: 100, blue: 50, alpha: alpha)
        let mean = try ThumbHash(of: .plain(1, 1, color)).averageColor
        for (part, expected) in [(mean.red, 200), (mean.green, 100), (mean.blue, 50), (mean.alpha, Int(alpha))] {
            #expect(abs(Int(part) - expected) <= 9)
        }
    }

    /// With one opaque and one clear pixel, the alpha wave has an amplitude of half the square root of ½, about 5/15.
    @Test func scaleOfAlphaIsStoredInFifteenths() throws {
        let image = Image(size: ImageSize(clamping: 2, 1)) { pixels in
            for index in 0..<4 { pixels[index] = 255 }
        }
        #expect(try ThumbHash(of: image).bytes[5] >> 4 == 5)
    }

    @Test func scalesAreAtMostOne() throws {
        let header = try #require(ThumbHashHeader([UInt8](repeating: 0xFF, count: 6)))
        #expect(header.mean == .one)
        #expect(header.scale == .one)
        #expect(header.hasAlpha)
        #expect(header.columns == 5)
        #expect(header.rows == 7)
    }

    @Test func previewCanHaveAnySize() throws {
        let hash = try #require(ThumbHash(bytes: Expected.clearHash))
        #expect(hash.image(size: ImageSize(clamping: 11, 5)).distance(from: Expected.wideBlur) <= 1)
        #expect(hash.image(size: ImageSize(clamping: 1, 1)).size == ImageSize(width: 1, height: 1))
    }

    @Test func aspectRatioIsKept() throws {
        #expect(try ThumbHash(of: .smooth(40, 20)).aspectRatio == 7.0 / 4)
        #expect(try ThumbHash(of: .smooth(40, 20)).image().size == ImageSize(width: 32, height: 18))
        #expect(try ThumbHash(of: .smooth(20, 40)).image().size == ImageSize(width: 18, height: 32))
        #expect(try ThumbHash(of: .smooth(30, 30, opaque: false)).aspectRatio == 1)
        #expect(try ThumbHash(of: .smooth(100, 1)).aspectRatio == 7)
    }

    @Test func hashOfALargeImageIsCloseToThatOfASmallOne() throws {
        let large = try ThumbHash(of: .smooth(400, 300)).image()
        let small = try ThumbHash(of: .smooth(100, 75)).image()
        #expect(large.distance(from: small) <= 24)
    }

    @Test(arguments: [Color.white, .black, Color(red: 200, green: 30, blue: 90), .clear])
    func singleColorIsKept(color: Color) throws {
        for (width, height) in [(1, 1), (10, 3), (1, 70)] {
            let hash = try ThumbHash(of: .plain(width, height, color))
            let mean = hash.averageColor
            #expect(abs(Int(mean.red) - Int(color.red)) <= 6)
            #expect(abs(Int(mean.green) - Int(color.green)) <= 6)
            #expect(abs(Int(mean.blue) - Int(color.blue)) <= 6)
            #expect(mean.alpha == color.alpha)
            #expect(hash.image().distance(from: Image(size: hash.image().size, color: mean)) <= 1)
        }
    }

    @Test func wrongNumberOfBytesIsInvalid() {
        for hash in [Expected.landscapeHash, Expected.clearHash] {
            #expect(ThumbHash(bytes: hash)?.bytes == hash)
            #expect(ThumbHash(bytes: hash + [0]) == nil)
            for count in 0..<hash.count { #expect(ThumbHash(bytes: Array(hash.prefix(count))) == nil) }
        }
    }

    @Test func base64SurvivesARoundTrip() throws {
        for (bytes, text) in [
            (Expected.landscapeHash, Expected.landscapeBase64), (Expected.portraitHash, Expected.portraitBase64),
            (Expected.clearHash, Expected.clearBase64), (Expected.noiseHash, Expected.noiseBase64),
            (Expected.clearNoiseHash, Expected.clearNoiseBase64),
        ] {
            let hash = try #require(ThumbHash(bytes: bytes))
            #expect(hash.base64 == text)
            #expect(ThumbHash(base64: text) == hash)
            #expect(ThumbHash(base64: text + "AAAA") == nil)
            #expect(ThumbHash(base64: String(text.dropLast())) == nil)
            #expect(ThumbHash(base64: text + "====") == nil)
            #expect(ThumbHash(base64: "=" + text.dropFirst()) == nil)
            #expect(ThumbHash(base64: "*" + text.dropFirst()) == nil)
            #expect(ThumbHash(base64: "é" + text.dropFirst(2)) == nil)
        }
        #expect(ThumbHash(base64: "") == nil)
        // The unused bits after the last byte are set.
        #expect(Expected.landscapeBase64.hasSuffix("aA=="))
        #expect(ThumbHash(base64: Expected.landscapeBase64.dropLast(3) + "B==") == nil)
    }

    @Test(arguments: 1...10)
    func randomBytesAreDecodedOrRejected(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var shown = 0
        for _ in 0..<300 {
            let count = Int.random(in: 0...30, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            guard let hash = ThumbHash(bytes: bytes) else { continue }
            shown += 1
            #expect(hash.image().size.longerSide == 32, "seed \(seed)")
            #expect(hash.aspectRatio > 0 && hash.aspectRatio <= 7, "seed \(seed)")
            _ = hash.averageColor
        }
        #expect(shown > 0, "seed \(seed)")
    }

    @Test func equalImagesHaveEqualHashes() throws {
        #expect(try ThumbHash(of: .smooth(40, 22)) == ThumbHash(of: .smooth(40, 22)))
        #expect(try ThumbHash(of: .smooth(40, 22)) != ThumbHash(of: .smooth(22, 40)))
    }
}
