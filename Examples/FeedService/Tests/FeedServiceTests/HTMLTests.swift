import InwardFetching
import Testing

@testable import FeedService

struct HTMLTests {
    @Test func insertedTextIsEscapedAndMarkupIsNot() {
        let (text, part): (String, HTML) = ("<b a=\"1\" c='2'>&amp;", "<i>\(1)</i>")
        let html: HTML = "<p title=\"\(text)\">\(part)\([part, part])\(nil as HTML?)</p>"
        let escaped = "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;"
        #expect(html.markup == "<p title=\"\(escaped)\"><i>1</i><i>1</i><i>1</i></p>")
    }

    @Test func titleAndDetailOfAProblemAreEscaped() {
        let page = Page(ProblemDetails(400, detail: "<script>"))
        #expect(page.document.markup.contains("<p>&lt;script&gt;</p>"))
    }
}
