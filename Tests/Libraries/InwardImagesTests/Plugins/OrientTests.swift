import InwardImages
import TestSupport
import Testing

struct OrientTests {
    private let expected = [
        Expected.orientation1, Expected.orientation2, Expected.orientation3, Expected.orientation4,
        Expected.orientation5,
        Expected.orientation6, Expected.orientation7, Expected.orientation8,
    ]

    @Test(arguments: Orientation.allCases)
    func orientationIsAppliedToThePixels(orientation: Orientation) throws {
        var image = Image.sample(3, 2)
        image.orientation = orientation
        let shown = try Orient().filtered(image)
        #expect(shown.bytes == expected[orientation.rawValue - 1])
        #expect(shown.size == (orientation.swapsSides ? ImageSize(width: 2, height: 3) : image.size))
        #expect(shown.orientation == .up)
        #expect(try Orient().filtered(shown) == shown)
    }

    @Test func onePixelIsUnchangedByAnyOrientation() throws {
        for orientation in Orientation.allCases {
            var image = Image.plain(1, 1, .white)
            image.orientation = orientation
            #expect(try Orient().filtered(image) == .plain(1, 1, .white))
        }
    }

    @Test func imageIsDecodedAtFullSize() {
        #expect(Orient().leastSize(for: ImageSize(clamping: 100, 100)) == nil)
        #expect(Orient() == Orient())
    }

    @Test func cancelledTaskThrows() async {
        #expect(
            await CancelledTask.stops { () throws(CancellationError) in
                var image = Image.sample(40, 30)
                image.orientation = .left
                _ = try Orient().filtered(image)
            }
        )
    }
}
