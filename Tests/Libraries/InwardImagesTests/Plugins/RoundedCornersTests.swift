import InwardImages
import TestSupport
import Testing

struct RoundedCornersTests {
    @Test func cornersAreClearWithSmoothEdges() {
        let image = RoundedCorners(radius: 4.5).filtered(.plain(13, 11, .white))
        // The filter approximates the coverage of a pixel by its distance from the circle, so the values differ slightly.
        for (alpha, expected) in zip(image.alphas, Expected.corners) {
            #expect(abs(Int(alpha) - Int(expected)) <= 16)
        }
        #expect(image[0, 0] == .clear)
        #expect(image[4, 4] == .white)
        #expect(image[6, 0] == .white)
        // Between the centers of the corners, the edge is straight.
        #expect(RoundedCorners(radius: 4.3).filtered(.plain(13, 11, .white))[4, 0] == .white)
    }

    @Test func cornersAreSymmetricForEveryRadius() {
        for radius in [0.3, 1, 2.5, 3, 5, 100] {
            for (width, height) in [(13, 11), (12, 10), (1, 1), (2, 9)] {
                let image = RoundedCorners(radius: radius).filtered(.plain(width, height, .white))
                for y in 0..<height {
                    for x in 0..<width {
                        #expect(image[x, y] == image[width - 1 - x, y])
                        #expect(image[x, y] == image[x, height - 1 - y])
                    }
                }
            }
        }
    }

    @Test func translucentPixelsStayTranslucent() {
        let image = RoundedCorners(radius: 4).filtered(.plain(9, 9, Color(gray: 10, alpha: 100)))
        #expect(image[4, 0] == Color(gray: 10, alpha: 100))
        #expect((1..<100).contains(image[1, 1].alpha))
    }

    @Test func radiusOutOfRangeIsClamped() {
        let image = Image.sample(9, 9, opaque: true)
        for radius: Double in [0, -1, -.infinity, .nan] {
            #expect(RoundedCorners(radius: radius) == RoundedCorners(radius: 0))
            #expect(RoundedCorners(radius: radius).filtered(image) == image)
        }
        for radius: Double in [4.5, 100, 1e300, .infinity] {
            #expect(RoundedCorners(radius: radius).filtered(image) == Circle().filtered(image))
        }
    }

    @Test func equalSettingsAreEqual() {
        #expect(Set([RoundedCorners(radius: 3), RoundedCorners(radius: 3), RoundedCorners(radius: 3.5)]).count == 2)
    }
}
