import InwardImages
import Testing

struct OrientationTests {
    /// The values of the tag 0x0112 of TIFF 6.0.
    @Test(arguments: [
        (1, Orientation.up, false), (2, .upMirrored, false), (3, .down, false), (4, .downMirrored, false),
        (5, .leftMirrored, true), (6, .right, true), (7, .rightMirrored, true), (8, .left, true),
    ])
    func everyValueOfTheTagIsAnOrientation(value: Int, orientation: Orientation, swapsSides: Bool) {
        #expect(Orientation(rawValue: value) == orientation)
        #expect(orientation.swapsSides == swapsSides)
    }

    @Test func otherValuesAreInvalid() {
        #expect(Orientation(rawValue: 0) == nil)
        #expect(Orientation(rawValue: 9) == nil)
        #expect(Orientation.allCases.count == 8)
    }
}
