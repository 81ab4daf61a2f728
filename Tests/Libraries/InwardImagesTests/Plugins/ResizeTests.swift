import InwardImages
import InwardTesting
import TestSupport
import Testing
import Thoroughness

struct ResizeTests {
    private func resized(_ image: Image, _ width: Int, _ height: Int, _ mode: Resize.Mode = .exact) throws -> Image {
        try Resize(width: width, height: height, mode: mode, enlarges: true).filtered(image)
    }

    /// 320 bytes for the result, and 16,696 for resampling (see `ScalingTests`).
    @Test func workingBytesAreThoseOfResultAndResampling() throws {
        let resize = Resize(width: 10, height: 8, mode: .exact)
        #expect(resize.workingBytes(for: ImageSize(clamping: 100, 80)) == 320 + 16_696)
        #expect(resize.workingBytes(for: ImageSize(clamping: 10, 8)) == 0)
    }

    @Test func shrinkingAppliesTheKernelToLinearLight() throws {
        #expect(try resized(.sample(24, 18), 9, 7).distance(from: Expected.reduced) <= 1)
        #expect(try resized(.sample(8, 6, opaque: true), 1, 1).distance(from: Expected.point) <= 1)
    }

    @Test func enlargingAppliesTheKernelToLinearLight() throws {
        #expect(try resized(.sample(5, 4, opaque: true), 9, 7).distance(from: Expected.enlarged) <= 1)
    }

    @Test func fillKeepsThePartThatTheGravitySelects() throws {
        #expect(try resized(.sample(24, 18), 7, 9, .fill(.right)).distance(from: Expected.filled) <= 1)
    }

    @Test(arguments: [Color(red: 255, green: 0, blue: 128), Color(red: 3, green: 90, blue: 201, alpha: 77), .clear])
    func singleColorIsUnchanged(color: Color) throws {
        for (width, height) in [(1, 1), (7, 90), (40, 30), (64, 3)] {
            let image = try resized(.plain(40, 30, color), width, height)
            #expect(image == .plain(width, height, color))
        }
    }

    @Test func mixOfBlackAndWhiteHasHalfTheLight() throws {
        var image = Image.plain(64, 64, .black)
        image.update { pixels in
            for y in 0..<64 {
                for x in 0..<64 where (x + y) % 2 == 0 {
                    for part in 0..<3 { pixels[4 * (64 * y + x) + part] = 255 }
                }
            }
        }
        #expect(try resized(image, 8, 8)[4, 4] == Color(gray: 188))
    }

    @Test func invisiblePixelsDoNotAffectColors() throws {
        var image = Image.plain(8, 8, Color(red: 0, green: 255, blue: 0, alpha: 0))
        image.update { pixels in
            for y in 0..<8 {
                for x in 0..<4 {
                    for (part, level) in [255, 0, 0, 255].enumerated() { pixels[4 * (8 * y + x) + part] = UInt8(level) }
                }
            }
        }
        for size in [3, 5, 13] {
            let small = try resized(image, size, size)
            for y in 0..<size {
                for x in 0..<size {
                    let color = small[x, y]
                    #expect(color.green == 0 && (color.red == 255 || color.alpha == 0))
                }
            }
        }
    }

    @Test(arguments: Thoroughness.sample([UInt64](1...10), every: 3))
    func everyModeGivesItsSize(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<(Thoroughness.isExhaustive ? 100 : 25) {
            let (width, height) = (Int.random(in: 1...40, using: &random), Int.random(in: 1...40, using: &random))
            let (toWidth, toHeight) = (Int.random(in: 1...60, using: &random), Int.random(in: 1...60, using: &random))
            let enlarges = Bool.random(using: &random)
            let image = Image.plain(width, height, .white)
            func size(_ mode: Resize.Mode) throws -> ImageSize {
                let resize = Resize(width: toWidth, height: toHeight, mode: mode, enlarges: enlarges)
                let result = try resize.filtered(image)
                #expect(result.bytes.allSatisfy { $0 == 255 }, "seed \(seed)")
                return result.size
            }
            let scale = min(Double(toWidth) / Double(width), Double(toHeight) / Double(height))
            let fitting = try size(.fit)
            if scale >= 1, !enlarges {
                #expect(fitting == image.size, "seed \(seed)")
            } else {
                #expect(fitting.width <= toWidth && fitting.height <= toHeight, "seed \(seed)")
                #expect(fitting.width == toWidth || fitting.height == toHeight, "seed \(seed)")
                #expect(abs(Double(fitting.width) - max(1, Double(width) * scale)) <= 0.5001, "seed \(seed)")
                #expect(abs(Double(fitting.height) - max(1, Double(height) * scale)) <= 0.5001, "seed \(seed)")
            }
            let filling = try size(.fill)
            if enlarges || (width >= toWidth && height >= toHeight) {
                #expect(filling == ImageSize(clamping: toWidth, toHeight), "seed \(seed)")
            } else {
                #expect(filling.width <= width && filling.height <= height, "seed \(seed)")
                #expect(filling.width == width || filling.height == height, "seed \(seed)")
                let (cross, other) = (filling.width * toHeight, filling.height * toWidth)
                #expect(abs(cross - other) <= max(toWidth, toHeight) || filling.height == 1 || filling.width == 1)
            }
            let exact = try size(.exact)
            let limit = enlarges ? (60, 60) : (width, height)
            #expect(exact == ImageSize(clamping: min(toWidth, limit.0), min(toHeight, limit.1)), "seed \(seed)")
        }
    }

    @Test func smallImageIsNotEnlarged() throws {
        let image = Image.sample(8, 6)
        #expect(try Resize(width: 100, height: 100).filtered(image) == image)
        #expect(try Resize(width: 8, height: 100, mode: .exact).filtered(image) == image)
        #expect(try Resize(width: 800, height: 600, mode: .fill).filtered(image) == image)
        let square = try Resize(width: 100, height: 100, mode: .fill(.left)).filtered(image)
        #expect(square == Crop(to: ImageSize(clamping: 6, 6), at: .left).filtered(image))
        let middle = try Resize(width: 70, height: 60, mode: .fill).filtered(image)
        #expect(middle == Crop(to: ImageSize(clamping: 7, 6)).filtered(image))
    }

    @Test func imageIsEnlargedToAtMostAHundredMillionPixels() {
        #expect(Resize.maximumPixelCount == 100_000_000)
        let point = ImageSize(clamping: 1, 1)
        for (width, size) in [(10_000, ImageSize(clamping: 10_000, 10_000)), (10_001, point)] {
            let resize = Resize(width: width, height: 10_000, mode: .exact, enlarges: true)
            #expect(resize.resultSize(for: point) == size)
        }
    }

    @Test func sizeOutOfRangeIsClamped() throws {
        let image = Image.sample(8, 6)
        #expect(try Resize(width: 0, height: -5).filtered(image).size == ImageSize(width: 1, height: 1))
        #expect(
            try Resize(width: .min, height: .max, mode: .fill).filtered(image).size == ImageSize(width: 1, height: 6)
        )
        for mode in [Resize.Mode.fit, .fill, .exact] {
            #expect(try Resize(width: .max, height: .max, mode: mode, enlarges: true).filtered(image).size.width <= 8)
        }
        let point = Image.plain(1, 1, .white)
        #expect(try resized(point, 300, 200) == .plain(300, 200, .white))
        #expect(try resized(.plain(3000, 1, .white), 1, 1) == point)
    }

    @Test func orientationIsKept() throws {
        var image = Image.sample(8, 6)
        image.orientation = .left
        #expect(try Resize(width: 4, height: 4).filtered(image).orientation == .left)
    }

    @Test func imageMayBeDecodedAtOneAndAHalfTimesTheTargetSize() throws {
        let photo = ImageSize(clamping: 2725, 2225)
        let least = try #require(Resize(width: 720, height: 588, mode: .exact).leastSize(for: photo))
        #expect(least == ImageSize(width: 1080, height: 882))
        // The scaled size of the whole image counts, not the size of the square.
        let filling = try #require(Resize(width: 100, height: 100, mode: .fill).leastSize(for: photo))
        #expect(filling == ImageSize(width: 184, height: 150))
        #expect(Resize(width: 2000, height: 2000).leastSize(for: photo) == nil)
        #expect(Resize(width: 4000, height: 4000).leastSize(for: photo) == nil)
        #expect(Resize(width: 4000, height: 4000, enlarges: true).leastSize(for: photo) == nil)
        #expect(Resize(width: 100, height: 5000, mode: .exact).leastSize(for: photo) == nil)
    }

    @Test func equalSettingsAreEqual() {
        let resize = Resize(width: 10, height: 20)
        #expect(Set([resize, Resize(to: ImageSize(clamping: 10, 20), mode: .fit, enlarges: false)]).count == 1)
        let others: Set = [
            resize, Resize(width: 11, height: 20), Resize(width: 10, height: 21),
            Resize(width: 10, height: 20, mode: .fill),
            Resize(width: 10, height: 20, mode: .fill(.top)), Resize(width: 10, height: 20, mode: .exact),
            Resize(width: 10, height: 20, enlarges: true),
        ]
        #expect(others.count == 7)
    }

    @Test func cancelledTaskThrows() async {
        #expect(
            await CancelledTask.stops { () throws(CancellationError) in
                _ = try Resize(width: 4, height: 4).filtered(.sample(40, 30))
            }
        )
    }
}
