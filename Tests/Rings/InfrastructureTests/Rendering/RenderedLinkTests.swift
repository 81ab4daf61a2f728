import Infrastructure
import InterfaceAdapters
import Testing

struct RenderedLinkTests {
    private let columns: [Table.Column] = [.init("Name"), .init("City")]
    private let hostile = #"/"><script>x&'"# + "\u{1B}"

    private func text(_ blocks: Document.Block..., width: Int = 44) -> String {
        TextRenderer(maximumColumnWidth: width).render(Document(title: "Title", blocks: blocks))
    }

    private func html(_ blocks: Document.Block...) -> String {
        HTMLRenderer(generator: "inward").render(Document(title: "Title", blocks: blocks))
    }

    @Test func firstLinkOfEachRowHasItsOwnColumnInText() {
        let rows: [[Table.Cell]] = [
            [.init("Ada", link: Link("/1")), .init("London", link: Link("/2"))], [.init("Charles"), .init("Paris")],
            [.init("Mary"), .init("Bath", link: Link("/3"))],
        ]
        #expect(
            text(.table(Table(columns: columns, rows: rows))) == """
                Name     City    Link
                -------  ------  ----
                Ada      London  /1
                Charles  Paris
                Mary     Bath    /3

                """
        )
    }

    @Test func textWithoutLinksHasNoLinkColumn() {
        let table = Table(columns: columns, rows: [[.init("Ada"), .init("London")]])
        #expect(!text(.table(table)).contains("Link"))
        #expect(!text(.table(Table(columns: columns, rows: []))).contains("Link"))
    }

    @Test func linkIsNeverTruncated() {
        let table = Table(
            columns: columns,
            rows: [[.init("Ada Lovelace", link: Link("--open users/7")), .init("London")]]
        )
        #expect(text(.table(table), width: 5).hasSuffix("Ada …  Lond…  --open users/7\n"))
    }

    @Test func linkBlockIsALineOfText() {
        #expect(text(.link("Next page", Link("/posts/after/61"))) == "Next page: /posts/after/61\n")
        #expect(text(.link("a\u{1B}", Link("b\n"))) == #"a\u{1B}: b\n"# + "\n")
        let table = Table(columns: columns, rows: [[.init("x", link: Link("/\u{1B}[2J"))]])
        #expect(text(.table(table)).contains(#"/\u{1B}[2J"#))
    }

    @Test func pageHasAnchors() {
        #expect(html(.link("Next <page>", Link("/posts"))).contains("<p><a href=\"/posts\">Next &lt;page&gt;</a></p>"))
        let rows: [[Table.Cell]] = [[.init("Ada <3", detail: "x", link: Link("/1")), .init("London")]]
        let page = html(.table(Table(columns: columns, rows: rows)))
        #expect(page.contains("<tr><td title=\"x\"><a href=\"/1\">Ada &lt;3</a></td><td>London</td></tr>"))
        #expect(!page.contains("Link"))
    }

    @Test func linkCannotEndItsAnchor() {
        let escaped = #"<a href="/&quot;&gt;&lt;script&gt;x&amp;&#39;\u{1B}">x</a>"#
        #expect(html(.link("x", Link(hostile))).contains("<p>\(escaped)</p>"))
        let table = Table(columns: columns, rows: [[.init("x", link: Link(hostile))]])
        #expect(html(.table(table)).contains("<td>\(escaped)</td>"))
    }
}
