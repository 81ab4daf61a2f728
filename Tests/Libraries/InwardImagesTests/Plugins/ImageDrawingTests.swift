import TestSupport
import Testing

@testable import InwardImages

struct ImageDrawingTests {
    @Test func partOutsideTheImageIsCutOff() {
        let mark = Image.sample(4, 3, opaque: true)
        for y in -4...7 {
            for x in -5...9 {
                var image = Image.plain(8, 6, .black)
                image.draw(mark, x: x, y: y, opacity: 255)
                for row in 0..<6 {
                    for column in 0..<8 {
                        let isCovered = (x..<x + 4).contains(column) && (y..<y + 3).contains(row)
                        #expect(image[column, row] == (isCovered ? mark[column - x, row - y] : .black))
                    }
                }
            }
        }
    }

    @Test func invisibleMarkChangesNothing() {
        var image = Image.sample(4, 4)
        image.draw(.plain(4, 4, Color(gray: 200, alpha: 0)), x: 0, y: 0, opacity: 255)
        image.draw(.plain(4, 4, .white), x: 0, y: 0, opacity: 0)
        #expect(image == .sample(4, 4))
    }

    @Test func opaqueMarkReplacesThePixels() {
        var image = Image.sample(4, 4)
        image.draw(.sample(4, 4, opaque: true), x: 0, y: 0, opacity: 255)
        #expect(image == .sample(4, 4, opaque: true))
    }
}
