import TestSupport
import Testing

@testable import InwardImages

struct LetteringTests {
    private func coverage(_ text: String, _ width: Int, _ height: Int) throws -> [UInt8] {
        let lettering = try #require(Lettering(text))
        return lettering.image(size: ImageSize(clamping: width, height), color: .white).alphas
    }

    @Test func coverageOfPixelsMatchesTheLetters() throws {
        for (text, width, height, expected) in [
            ("Ag", 7, 6, Expected.lettering), ("Ag", 25, 20, Expected.enlargedLettering),
        ] {
            let coverage = try coverage(text, width, height)
            #expect(coverage.count == expected.count)
            #expect(zip(coverage, expected).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
        }
    }

    @Test func lettersHaveTheColorOfTheText() throws {
        let color = Color(red: 1, green: 2, blue: 3, alpha: 100)
        let image = try #require(Lettering("-")).image(size: ImageSize(clamping: 5, 9), color: color)
        for y in 0..<9 {
            for x in 0..<5 { #expect(image[x, y] == (y == 3 ? color : .clear)) }
        }
    }

    @Test func everyPrintableCharacterHasItsOwnGlyph() {
        let characters = (UInt8(0x20)..<0x7F).map { Character(UnicodeScalar($0)) }
        #expect(Set(characters.map(PixelFont.glyph(of:))).count == 95)
        for character in characters where character != " " {
            #expect(PixelFont.glyph(of: character).nonzeroBitCount >= 3)
            #expect(PixelFont.glyph(of: character) != PixelFont.box)
            #expect(PixelFont.glyph(of: character) >> 45 == 0)
        }
        #expect(PixelFont.glyph(of: " ") == 0)
    }

    @Test(arguments: ["é", "\n", "\r\n", "\u{7F}", "\0", "漢", "👍🏽"])
    func otherCharactersAreBoxes(character: Character) {
        #expect(PixelFont.glyph(of: character) == PixelFont.box)
    }

    @Test func lineWidthCountsCharactersAndGaps() throws {
        #expect(Lettering("") == nil)
        #expect(try #require(Lettering("A")).columnCount == 5)
        #expect(try #require(Lettering("Ag?")).columnCount == 17)
    }

    @Test func lineOnOnePixelHasItsAverageCoverage() throws {
        // The bar covers 5 of the 45 font pixels.
        #expect(try coverage("-", 1, 1) == [28])
        #expect(try coverage(String(repeating: "-", count: 10_000), 1, 1) == [24])
    }
}
