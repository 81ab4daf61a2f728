import InwardImages
import InwardTesting
import Testing

struct TextLineTests {
    private func failure(_ text: String) -> TypesettingError? {
        do throws(TypesettingError) {
            _ = try TextLine(text)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        "Example", "안녕하세요", "سلام", "שלום", "नमस्ते", "漢字かな", "👩\u{200D}👩\u{200D}👧", "می\u{200C}خواهم", "<b>x</b> &amp;",
        "e\u{301}", " ", "\u{E000}",
    ])
    func allScriptsAreAllowed(text: String) throws {
        let line = try TextLine(text)
        #expect(line.text == text && line.description == text)
    }

    @Test(arguments: [
        "\n", "\r", "\u{0}", "\u{1B}", "\u{7F}", "\u{85}", "\u{2028}", "\u{2029}", "\u{202E}", "\u{202A}", "\u{2066}",
        "\u{2069}",
        "\u{200E}", "\u{200F}", "\u{061C}", "\u{200B}", "\u{FEFF}", "\u{AD}", "\u{E0041}", "\u{FFF9}",
    ])
    func characterThatControlsOthersIsRefusedAndNamed(character: String) throws {
        let error = try #require(failure("a\(character)b"))
        let scalar = try #require(character.unicodeScalars.first)
        #expect(error.reason == .invalidText && error.missingCharacters == [])
        let code = "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        let name = ["\n": "\\n", "\r": "\\r"][character] ?? code
        #expect(error.description.contains("the character '\(name)'"), "\(error)")
        #expect(!error.description.unicodeScalars.contains(scalar))
    }

    @Test func lengthIsLimited() throws {
        #expect(failure("")?.reason == .invalidText)
        _ = try TextLine(String(repeating: "한", count: 256))
        #expect(failure(String(repeating: "a", count: 257))?.reason == .invalidText)
        // A single character.
        #expect(failure("a" + String(repeating: "\u{301}", count: 100_000))?.reason == .invalidText)
        #expect(
            failure(String(repeating: "한", count: 1_000_000))?.description
                == "The text must have 1 to 256 characters, in at most 1024 bytes."
        )
    }

    @Test func linesAreComparedByTheirBytes() throws {
        #expect(try TextLine("é") == TextLine("\u{E9}"))
        #expect(try TextLine("\u{E9}") != TextLine("e\u{301}"))
        #expect(try Set([TextLine("\u{E9}"), TextLine("e\u{301}"), TextLine("é")]).count == 2)
    }

    @Test func missingCharactersAreNamedWithEscapes() {
        let error = TypesettingError.missing(["한", "\u{F0000}"] + (0..<8).map { Character(Unicode.Scalar(0x61 + $0)) })
        #expect(error.missingCharacters.count == 10)
        #expect(error.description.contains("no installed font has '한', '"))
        #expect(error.description.contains(" and 2 more. Install a font for it, or change the text."), "\(error)")
    }
}
