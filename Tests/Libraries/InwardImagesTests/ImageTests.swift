import Testing

@testable import InwardImages

struct ImageTests {
    private let size = ImageSize(clamping: 2, 3)

    @Test func numberOfBytesMustMatchTheSize() {
        let bytes = (0..<24).map { UInt8($0) }
        let image = Image(size: size, bytes: bytes)
        #expect(image?[1, 2] == Color(red: 20, green: 21, blue: 22, alpha: 23))
        #expect(image?[0, 0] == Color(red: 0, green: 1, blue: 2, alpha: 3))
        #expect(Image(size: size, bytes: Array(bytes.dropLast())) == nil)
        #expect(Image(size: size, bytes: bytes + [0]) == nil)
    }

    @Test func filledImageHasOneColor() {
        let image = Image(size: size, color: Color(red: 1, green: 2, blue: 3, alpha: 4))
        #expect(image == Image(size: size, bytes: (0..<24).map { UInt8($0 % 4 + 1) }))
    }

    @Test(arguments: [(-1, 0), (0, -1), (2, 0), (0, 3), (.max, .max)]) func pixelsOutsideAreClear(x: Int, y: Int) {
        #expect(Image(size: size, color: .white)[x, y] == .clear)
    }

    @Test func changingACopyKeepsTheOriginal() {
        let original = Image(size: size, color: .black)
        var copy = original
        copy.update { $0[0] = 7 }
        #expect(copy[0, 0].red == 7 && original[0, 0] == .black)
    }

    @Test func imageWithATranslucentPixelIsNotOpaque() {
        var image = Image(size: size, color: .white)
        #expect(image.isOpaque)
        image.update { $0[$0.count - 1] = 254 }
        #expect(!image.isOpaque)
    }

    @Test func descriptionAndMirrorOmitThePixels() {
        #expect("\(Image(size: size))" == "image of 2×3")
        #expect(Mirror(reflecting: Image(size: size)).children.allSatisfy { $0.label != "bytes" })
    }
}
