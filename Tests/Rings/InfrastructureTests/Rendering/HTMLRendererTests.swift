import Infrastructure
import InterfaceAdapters
import Testing

struct HTMLRendererTests {
    private let hostile = #"<script>alert("1")</script>&'"# + "\u{1B}\u{202E}"
    private let escaped = #"&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;\u{1B}\u{202E}"#

    private func render(_ blocks: Document.Block...) -> String {
        HTMLRenderer(generator: "inward").render(Document(title: hostile, blocks: blocks))
    }

    @Test func textIsEscapedEverywhere() {
        let page = render(
            .heading(hostile),
            .paragraph(hostile),
            .notes([hostile]),
            .table(Table(columns: [.init(hostile)], rows: [[.init(hostile, detail: hostile)]]))
        )
        #expect(!page.contains("<script"))
        #expect(page.contains("<title>\(escaped)</title>"))
        #expect(page.contains("<h2>\(escaped)</h2>"))
        #expect(page.contains("<p>\(escaped)</p>"))
        #expect(page.contains("<li>\(escaped)</li>"))
        #expect(page.contains("<th scope=\"col\">\(escaped)</th>"))
        #expect(page.contains("<td title=\"\(escaped)\">\(escaped)</td>"))
        #expect(
            HTMLRenderer(generator: hostile).render(Document(title: "", blocks: [])).contains("content=\"\(escaped)\"")
        )
    }

    @Test(arguments: [
        ("\"\u{301}", "&quot;\u{301}"), ("<\u{338}", "&lt;\u{338}"), ("&\u{301}", "&amp;\u{301}"),
        ("'\u{FE0F}", #"&#39;\u{FE0F}"#), (">\u{200D}", #"&gt;\u{200D}"#),
    ])
    func markupFollowedByACombiningMarkIsEscaped(text: String, escaped: String) {
        #expect(render(.paragraph(text)).contains("<p>\(escaped)</p>"))
    }

    @Test func pageIsCompleteAndAllowsNoScripts() {
        let page = render(.paragraph("x"))
        #expect(page.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">"))
        #expect(page.hasSuffix("</html>\n"))
        #expect(page.contains("<meta charset=\"utf-8\">"))
        #expect(page.contains("<meta name=\"generator\" content=\"inward\">"))
        #expect(page.contains("default-src 'none'"))
    }

    @Test func numericColumnsHaveAClass() {
        let columns: [Table.Column] = [.init("ID", isNumeric: true), .init("Name")]
        let page = render(.table(Table(columns: columns, rows: [[.init("1"), .init("Ada")]])))
        #expect(page.contains("<tr><td class=\"number\">1</td><td>Ada</td></tr>"))
    }

    @Test func figureIsEmbeddedInThePage() {
        let figure = Figure(bytes: [7, 8], mediaType: "image/png", width: 3, height: 4, alternative: "Ada \"A\"")
        let page = render(.table(Table(columns: [.init("")], rows: [[.init("caption", image: figure)]])))
        let image = #"<img src="data:image/png;base64,Bwg=" width="3" height="4" alt="Ada &quot;A&quot;"><br>caption"#
        #expect(page.contains("<td>\(image)</td>"))
        #expect(page.contains("img-src data:"))
    }
}
