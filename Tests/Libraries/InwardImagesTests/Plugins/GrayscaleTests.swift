import InwardImages
import TestSupport
import Testing

struct GrayscaleTests {
    @Test func aPixelBecomesTheGreyThatIsAsBright() throws {
        #expect(try Grayscale().filtered(.sample(8, 6)).distance(from: Expected.gray) == 0)
    }

    @Test func greyStaysAsItIs() throws {
        for level in UInt8.min...UInt8.max {
            let image = Image.plain(1, 1, Color(gray: level, alpha: 200))
            #expect(try Grayscale().filtered(image) == image)
        }
        #expect(Grayscale() == Grayscale())
    }

    @Test func oneThatIsCancelledGivesUp() async {
        #expect(
            await CancelledTask.stops { () throws(CancellationError) in
                _ = try Grayscale().filtered(.sample(4, 1))
            }
        )
    }
}
