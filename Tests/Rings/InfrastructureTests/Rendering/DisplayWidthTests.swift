import Testing

@testable import Infrastructure

struct DisplayWidthTests {
    /// The first and the last character of each wide range (Unicode Standard Annex 11).
    @Test(
        arguments: [
            (0x1100, 0x115F), (0x2E80, 0x303E), (0x3041, 0x33FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xA000, 0xA4CF),
            (0xA960, 0xA97F), (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0xFE30, 0xFE6F), (0xFF00, 0xFF60), (0xFFE0, 0xFFE6),
            (0x20000, 0x3FFFD),
        ] as [(UInt32, UInt32)]
    )
    func wideCharacterTakesTwoColumns(first: UInt32, last: UInt32) throws {
        for value in [first, last] {
            #expect(String(Character(try #require(Unicode.Scalar(value)))).displayWidth == 2, "\(value)")
        }
    }

    @Test(arguments: [
        ("", 0), ("a", 1), ("é", 1), ("e\u{301}", 1), ("\u{301}", 0), ("日本", 4), ("日a", 3), ("☎", 1), ("☎\u{FE0F}", 2),
        ("👩‍💻", 2), ("\u{10FF}", 1), ("\u{1160}", 1), ("\u{4DC0}", 1), ("\u{D7B0}", 1), ("\u{FF61}", 1),
    ])
    func widthOfATextIsTheSumOfItsCharacters(text: String, width: Int) {
        #expect(text.displayWidth == width)
    }
}
