import InwardImages
import TestSupport
import Testing

struct BlurTests {
    @Test func imageIsBlurredByThreeBoxes() throws {
        #expect(try Blur(radius: 1.5).filtered(.sample(12, 7)).distance(from: Expected.blurred) <= 1)
        let opaque = Image.sample(12, 7, opaque: true)
        #expect(try Blur(radius: 2.1).filtered(opaque).distance(from: Expected.blurredWider) <= 1)
    }

    @Test func workingBytesAreThoseOfThreeImages() {
        #expect(Blur(radius: 1).workingBytes(for: ImageSize(clamping: 4, 3)) == 144)
    }

    @Test(arguments: [0.5, 1, 8, 80, 1000])
    func singleColorIsUnchanged(radius: Double) throws {
        for color in [Color(red: 255, green: 1, blue: 128), Color(red: 3, green: 90, blue: 201, alpha: 77), .clear] {
            #expect(try Blur(radius: radius).filtered(.plain(30, 20, color)) == .plain(30, 20, color))
            #expect(try Blur(radius: radius).filtered(.plain(1, 1, color)) == .plain(1, 1, color))
        }
    }

    @Test func invisiblePixelsDoNotAffectColors() throws {
        var image = Image.plain(9, 9, Color(red: 0, green: 255, blue: 0, alpha: 0))
        image.update { pixels in
            for (part, level) in [255, 0, 0, 255].enumerated() { pixels[4 * 40 + part] = UInt8(level) }
        }
        let blurred = try Blur(radius: 1).filtered(image)
        #expect(blurred[4, 4].alpha > 20)
        for y in 0..<9 {
            for x in 0..<9 {
                #expect(blurred[x, y].green == 0)
                #expect(blurred[x, y].alpha == blurred[8 - x, y].alpha)
                #expect(blurred[x, y].alpha == blurred[y, x].alpha)
            }
        }
    }

    @Test func radiusOutOfRangeIsClamped() throws {
        let image = Image.sample(5, 4)
        for radius: Double in [0, -1, -.infinity, .nan] {
            #expect(Blur(radius: radius) == Blur(radius: 0))
            #expect(try Blur(radius: radius).filtered(image) == image)
        }
        #expect(Blur(radius: .infinity) == Blur(radius: Blur.maximumRadius))
        #expect(try Blur(radius: .infinity).filtered(image).size == image.size)
    }

    /// It keeps even the colors of invisible pixels.
    @Test func radiusBelowOnePixelChangesNothing() throws {
        let image = Image.plain(3, 3, Color(red: 9, green: 99, blue: 199, alpha: 0))
        #expect(try Blur(radius: 0.79).filtered(image) == image)
        #expect(try Blur(radius: 0.8).filtered(image) == .plain(3, 3, .clear))
    }

    @Test func equalSettingsAreEqual() {
        #expect(Set([Blur(radius: 3), Blur(radius: 3), Blur(radius: 4)]).count == 2)
    }

    @Test func cancelledTaskThrows() async {
        #expect(
            await CancelledTask.stops { () throws(CancellationError) in
                _ = try Blur(radius: 2).filtered(.sample(4, 4))
            }
        )
    }
}
