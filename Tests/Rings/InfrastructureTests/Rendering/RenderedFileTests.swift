import Infrastructure
import InterfaceAdapters
import Testing

struct RenderedFileTests {
    private struct Overview: ViewModel {
        let name: String

        enum CodingKeys: String, CodingKey {
            case generator = "_generator"
            case name
        }

        var document: Document { Document(title: name, blocks: [.paragraph(name)]) }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encode("inward", forKey: .generator)
        }
    }

    private let overview = Overview(name: "Ada <3")

    @Test func pageBeginsWithItsMarkAndShowsTheDocument() {
        let page = RenderedFile.page("index.html", of: overview.document, by: "inward")
        #expect(page.name == "index.html")
        #expect(page.contents.hasPrefix(page.mark))
        #expect(page.mark.contains(#"content="inward""#))
        #expect(!page.mark.contains("Ada"))
        #expect(page.contents.contains("<p>Ada &lt;3</p>"))
    }

    @Test func jsonBeginsWithItsMarkAndContainsTheViewModel() throws {
        let file = try RenderedFile.json("index.json", of: overview, by: "inward")
        #expect(file.name == "index.json")
        #expect(file.contents.hasPrefix(file.mark))
        #expect(file.mark.contains("inward"))
        #expect(!file.mark.contains("Ada"))
        #expect(file.contents.contains(#""name" : "Ada \u003c3""#))
    }
}
