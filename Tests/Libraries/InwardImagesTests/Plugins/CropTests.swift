import InwardImages
import TestSupport
import Testing

struct CropTests {
    private let image = Image.sample(8, 6)

    private func expect(_ crop: Crop, _ columns: Range<Int>, _ rows: Range<Int>) {
        let part = crop.filtered(image)
        #expect(part.size == ImageSize(width: columns.count, height: rows.count))
        for y in 0..<part.size.height {
            for x in 0..<part.size.width { #expect(part[x, y] == image[columns.lowerBound + x, rows.lowerBound + y]) }
        }
    }

    private func crop(_ width: Int, _ height: Int, x: Int, y: Int) -> Crop {
        Crop(to: ImageSize(clamping: width, height), x: x, y: y)
    }

    @Test func workingBytesAreThoseOfTheResult() {
        #expect(crop(3, 2, x: 4, y: 1).workingBytes(for: image.size) == 24)
    }

    @Test func pixelsInTheRectangleAreKept() {
        expect(crop(3, 2, x: 4, y: 1), 4..<7, 1..<3)
        expect(crop(8, 6, x: 0, y: 0), 0..<8, 0..<6)
        expect(crop(1, 1, x: 7, y: 5), 7..<8, 5..<6)
    }

    @Test func partOutsideTheImageIsCutOff() {
        expect(crop(5, 5, x: -2, y: 3), 0..<3, 3..<6)
        expect(crop(100, 100, x: 6, y: -50), 6..<8, 0..<6)
    }

    @Test func rectangleOutsideTheImageKeepsTheNearestPixels() {
        expect(crop(3, 2, x: 20, y: 1), 7..<8, 1..<3)
        expect(crop(3, 2, x: -20, y: -20), 0..<1, 0..<1)
        expect(crop(3, 2, x: .max, y: .max), 7..<8, 5..<6)
        expect(crop(3, 2, x: .min, y: .min), 0..<1, 0..<1)
        expect(crop(.max, .max, x: .max, y: -1), 7..<8, 0..<6)
    }

    @Test(arguments: Gravity.allCases)
    func gravitySelectsTheRectangle(gravity: Gravity) {
        let left = [0, 2, 5][gravity.column]
        let top = [0, 2, 4][gravity.row]
        expect(Crop(to: ImageSize(clamping: 3, 2), at: gravity), left..<left + 3, top..<top + 2)
        expect(Crop(to: ImageSize(clamping: 100, 2), at: gravity), 0..<8, top..<top + 2)
        expect(Crop(to: ImageSize(clamping: 100, 100), at: gravity), 0..<8, 0..<6)
    }

    @Test func orientationIsKept() {
        var image = image
        image.orientation = .down
        #expect(crop(2, 2, x: 0, y: 0).filtered(image).orientation == .down)
    }

    @Test func equalSettingsAreEqual() {
        #expect(Set([crop(3, 2, x: 1, y: 1), crop(3, 2, x: 1, y: 1)]).count == 1)
        let size = ImageSize(clamping: 3, 2)
        let crops: Set = [
            crop(3, 2, x: 1, y: 1), crop(4, 2, x: 1, y: 1), crop(3, 2, x: 2, y: 1), crop(3, 2, x: 1, y: 2),
            Crop(to: size),
            Crop(to: size, at: .top),
        ]
        #expect(crops.count == 6)
        #expect(crop(3, 2, x: 0, y: 0).leastSize(for: size) == nil)
    }
}
