import InwardImages
import TestSupport
import Testing

struct BackgroundTests {
    private let color = Color(red: 10, green: 200, blue: 90)

    @Test func imageIsBlendedWithTheColor() {
        let shown = Background(color).filtered(.sample(8, 6))
        #expect(shown.distance(from: Expected.background) == 0)
        #expect(shown.isOpaque)
        #expect(Background(color).filtered(.plain(3, 2, .clear)) == .plain(3, 2, color))
    }

    @Test func opaqueImageIsUnchanged() {
        let image = Image.sample(8, 6, opaque: true)
        #expect(Background(color).filtered(image) == image)
    }

    @Test func colorsThatDifferOnlyInAlphaAreEqual() {
        let clearer = Color(red: 10, green: 200, blue: 90, alpha: 7)
        #expect(Set([Background(color), Background(clearer), Background(.white)]).count == 2)
    }
}
