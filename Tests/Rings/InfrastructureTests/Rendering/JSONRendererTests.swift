import Foundation
import Infrastructure
import InterfaceAdapters
import Testing

struct JSONRendererTests {
    private struct Example: ViewModel, Decodable, Equatable {
        var text = "x"
        var number = 1.0
        var document: Document { Document(title: text, blocks: []) }

        enum CodingKeys: CodingKey {
            case text
            case number
        }
    }

    @Test func keysAreSortedAndSlashesAreNotEscaped() throws {
        let json = try JSONRenderer().render(Example(text: "a/b", number: 2))
        #expect(json == "{\n  \"number\" : 2,\n  \"text\" : \"a/b\"\n}\n")
    }

    @Test func controlCharactersAreEscapedAndRestored() throws {
        let example = Example(text: "a\u{1B}\u{7F}\u{9B}\u{202E}\u{2028}\r\n\"\\é美🙂", number: 1)
        let json = try JSONRenderer().render(example)
        for scalar in json.unicodeScalars where scalar != "\n" {
            #expect(scalar.properties.generalCategory != .control)
            #expect(!scalar.properties.isBidiControl)
        }
        #expect(json.contains(#"\u009b\u202e\u2028"#))
        #expect(try JSONDecoder().decode(Example.self, from: Data(json.utf8)) == example)
    }

    @Test func textCannotEndTheScriptThatEmbedsIt() throws {
        let example = Example(text: "</script><!--<script>\u{2028}\u{2029}", number: 1)
        let json = try JSONRenderer().render(example)
        #expect(!json.contains("<"))
        #expect(json.contains(#"\u003c/script>\u003c!--\u003cscript>\u2028\u2029"#))
        #expect(try JSONDecoder().decode(Example.self, from: Data(json.utf8)) == example)
    }

    @Test func invisibleCharactersAreEscapedEvenBeyondTheBasicPlane() throws {
        let example = Example(text: "a\u{200B}\u{AD}\u{E0061}\u{FEFF}\u{E01EF}", number: 1)
        let json = try JSONRenderer().render(example)
        #expect(json.contains(#"a\u200b\u00ad\udb40\udc61\ufeff\udb40\uddef"#))
        #expect(try JSONDecoder().decode(Example.self, from: Data(json.utf8)) == example)
    }

    @Test func valueThatJSONCannotRepresentIsAnError() {
        #expect(throws: EncodingError.self) { try JSONRenderer().render(Example(number: .infinity)) }
    }
}
