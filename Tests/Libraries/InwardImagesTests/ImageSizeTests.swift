import Testing

@testable import InwardImages

struct ImageSizeTests {
    @Test(arguments: [(0, 1), (1, 0), (-1, 1), (1, -1), (.max, 2), (.max / 4, 2), (1 << 31, 1 << 31)])
    func sidesBelowOneAndOverflowsAreInvalid(width: Int, height: Int) {
        #expect(ImageSize(width: width, height: height) == nil)
    }

    @Test func largestSizeHasTheMaximumByteCount() {
        #expect(ImageSize(width: Int.max / 4, height: 1)?.byteCount == Int.max / 4 * 4)
        #expect(ImageSize(width: Int.max / 4 + 1, height: 1) == nil)
    }

    @Test func sizeHasPixelAndByteCounts() {
        let size = ImageSize(width: 640, height: 480)
        #expect(size?.pixelCount == 307_200 && size?.byteCount == 1_228_800 && size?.longerSide == 640)
        #expect(size?.transposed == ImageSize(width: 480, height: 640))
        #expect(size?.description == "640×480")
    }

    @Test func clampedSizeIsTheNearestValidOne() {
        #expect(ImageSize(clamping: .min, .max) == ImageSize(width: 1, height: 1_000_000))
    }

    @Test(arguments: [(1, 9, 4), (2, 5, 2), (8, 2, 1), (.max, 1, 1), (0, 9, 4), (-3, 9, 4)])
    func dividedSizeIsRoundedUp(divisor: Int, width: Int, height: Int) {
        #expect(ImageSize(clamping: 9, 4).divided(by: divisor) == ImageSize(width: width, height: height))
    }
}
