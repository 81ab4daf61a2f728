import InwardImages
import Testing

struct ColorTests {
    @Test func colorHasItsComponents() {
        let color = Color(red: 1, green: 2, blue: 3, alpha: 4)
        #expect([color.red, color.green, color.blue, color.alpha] == [1, 2, 3, 4])
        let gray = Color(gray: 7, alpha: 9)
        #expect([gray.red, gray.green, gray.blue, gray.alpha] == [7, 7, 7, 9])
    }

    @Test func colorIsOpaqueByDefault() {
        #expect(Color(red: 1, green: 2, blue: 3).alpha == 255)
        #expect(Color(gray: 7).alpha == 255)
    }

    @Test func namedColorsHaveTheirComponents() {
        #expect(Color.clear == Color(red: 0, green: 0, blue: 0, alpha: 0))
        #expect(Color.black == Color(red: 0, green: 0, blue: 0, alpha: 255))
        #expect(Color.white == Color(red: 255, green: 255, blue: 255, alpha: 255))
    }
}
