import Entities
import Testing

/// What holds where nobody says otherwise. A service that links this package relies on it, so a change of a default is a change that
/// its users have to be told of.
struct DefaultsTests {
    @Test func aColorIsOpaque() {
        #expect(Color(red: 1, green: 2, blue: 3) == Color(red: 1, green: 2, blue: 3, alpha: 255))
        #expect(Color(gray: 7) == Color(red: 7, green: 7, blue: 7, alpha: 255))
    }

    @Test func anImageIsUprightAndClear() throws {
        let size = try #require(ImageSize(width: 1, height: 1))
        let image = Image(size: size)
        #expect(image.orientation == .up)
        #expect(image == Image(size: size, color: .clear))
        #expect(Image(size: size, bytes: [0, 0, 0, 0])?.orientation == .up)
    }
}
