import InwardImages
import TestSupport
import Testing

struct GrayscaleTests {
    @Test func pixelBecomesTheGrayOfEqualLuminance() throws {
        #expect(try Grayscale().filtered(.sample(8, 6)).distance(from: Expected.gray) == 0)
    }

    @Test func grayIsUnchanged() throws {
        for level in UInt8.min...UInt8.max {
            let image = Image.plain(1, 1, Color(gray: level, alpha: 200))
            #expect(try Grayscale().filtered(image) == image)
        }
        #expect(Grayscale() == Grayscale())
    }

    @Test func cancelledTaskThrows() async {
        #expect(
            await CancelledTask.stops { () throws(CancellationError) in
                _ = try Grayscale().filtered(.sample(4, 1))
            }
        )
    }
}
