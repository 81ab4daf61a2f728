import InwardImages
import TestSupport
import Testing

struct CircleTests {
    @Test func circleIsCutOutOfTheCenter() {
        let image = Image.sample(14, 9, opaque: true)
        let circle = Circle().filtered(image)
        #expect(circle.size == ImageSize(width: 9, height: 9))
        for (alpha, expected) in zip(circle.alphas, Expected.circle) {
            #expect(abs(Int(alpha) - Int(expected)) <= 16)
        }
        for y in 0..<9 {
            for x in 0..<9 where circle[x, y].alpha == 255 { #expect(circle[x, y] == image[x + 2, y]) }
            for x in 0..<9 where circle[x, y].alpha == 0 { #expect(circle[x, y] == .clear) }
        }
    }

    @Test func onePixelIsACircle() {
        #expect(Circle().filtered(.plain(1, 1, .white)) == .plain(1, 1, .white))
        #expect(Circle().filtered(.plain(1, 50, .white)) == .plain(1, 1, .white))
        #expect(Circle() == Circle())
    }
}
