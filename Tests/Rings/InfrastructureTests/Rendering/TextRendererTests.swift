import Infrastructure
import InterfaceAdapters
import TestSupport
import Testing

struct TextRendererTests {
    private func render(_ blocks: Document.Block..., width: Int = 44) -> String {
        TextRenderer(maximumColumnWidth: width).render(Document(title: "Title", blocks: blocks))
    }

    private func table(_ rows: [String]...) -> Document.Block {
        let columns: [Table.Column] = [.init("ID", isNumeric: true), .init("Name"), .init("City")]
        return .table(Table(columns: columns, rows: rows.map { row in row.map { Table.Cell($0) } }))
    }

    @Test func blocksAreSeparatedByEmptyLines() {
        let text = render(.heading("Users"), .paragraph("All of them."), .notes(["One", "Two"]))
        #expect(text == "Users\n=====\n\nAll of them.\n\n- One\n- Two\n")
    }

    @Test(arguments: [-1, 0, 1]) func columnHasRoomForAtLeastAnEllipsis(width: Int) {
        #expect(render(table(["1", "Ada", "London"]), width: width) == "…  …  …\n-  -  -\n1  …  …\n")
    }

    @Test func columnsAreAligned() {
        let text = render(table(["1", "Ada", "London"], ["10", "Charles", ""]))
        #expect(
            text == """
                ID  Name     City
                --  -------  ------
                 1  Ada      London
                10  Charles

                """
        )
    }

    @Test func wideCharactersTakeTwoColumnsAndAccentsNone() {
        let text = render(table(["1", "美咲", "x"], ["2", "e\u{301}lan", "y"], ["3", "👩‍💻!", "z"], ["4", "abcde", "u"]))
        #expect(
            text == """
                ID  Name   City
                --  -----  ----
                 1  美咲   x
                 2  e\u{301}lan   y
                 3  👩‍💻!    z
                 4  abcde  u

                """
        )
    }

    @Test func longCellsAreTruncated() {
        let text = render(table(["1", "abcdefgh", "12345"], ["2", "美美美", "x"]), width: 5)
        #expect(text.contains(" 1  abcd…  12345\n"))
        #expect(text.contains(" 2  美美…  x\n"))
    }

    @Test func characterWithManyCombiningMarksIsTruncated() {
        let text = render(table(["1", "a" + String(repeating: "\u{301}", count: 50_000), "x"]), width: 10)
        #expect(text.utf8.count < 2_000)
        #expect(text.contains("…"))
    }

    @Test func rowsArePaddedAndCutToTheColumns() {
        let text = render(table(["1"], ["2", "b", "c", "dropped"]))
        #expect(text.hasSuffix(" 1\n 2  b     c\n"))
    }

    @Test func controlCharactersAreShownInsteadOfSent() {
        let hostile = "a\u{1B}[2J\u{7}\r\n\t\u{9B}31m\u{202E}b\u{2028}\u{0}\u{7F}\u{200F}"
        let shown = #"a\u{1B}[2J\u{7}\r\n\t\u{9B}31m\u{202E}b\u{2028}\u{0}\u{7F}\u{200F}"#
        for text in [render(.heading(hostile)), render(.paragraph(hostile)), render(.notes([hostile]))] {
            #expect(text.contains(shown))
        }
        let table = Document.Block.table(Table(columns: [.init(hostile)], rows: [[.init(hostile)]]))
        let rendered = render(table, width: 200)
        #expect(rendered.components(of: shown) == 3)
        #expect(TextRenderer().render(line: hostile) == shown)
        for scalar in rendered.unicodeScalars where scalar != "\n" {
            #expect(scalar.properties.generalCategory != .control)
        }
    }

    @Test(arguments: [
        ("a\u{200B}b", #"a\u{200B}b"#), ("a\u{AD}b", #"a\u{AD}b"#), ("\u{FEFF}a", #"\u{FEFF}a"#),
        ("a\u{200C}b", #"a\u{200C}b"#), ("a\u{200D}b", #"a\u{200D}b"#), ("a\u{2060}\u{2064}", #"a\u{2060}\u{2064}"#),
        ("a\u{E0061}\u{E007F}", #"a\u{E0061}\u{E007F}"#), ("\u{E0001}", #"\u{E0001}"#), ("a\u{FE0F}", #"a\u{FE0F}"#),
        ("a\u{E0100}", #"a\u{E0100}"#), ("\u{3164}\u{115F}\u{FFA0}", #"\u{3164}\u{115F}\u{FFA0}"#),
        ("a\u{34F}b", #"a\u{34F}b"#), ("a\u{FFF9}b\u{FFFB}", #"a\u{FFF9}b\u{FFFB}"#), ("\u{61C}", #"\u{61C}"#),
        ("\u{180E}", #"\u{180E}"#), ("1\u{FE0F}", #"1\u{FE0F}"#), ("👩\u{200D}", #"👩\u{200D}"#),
        ("\u{200D}💻", #"\u{200D}💻"#), ("👩\u{200D}\u{200D}💻", #"👩\u{200D}\u{200D}💻"#),
        ("🙂\u{FE0F}\u{FE0F}", "🙂\u{FE0F}" + #"\u{FE0F}"#), ("س\u{200C}", #"س\u{200C}"#),
        ("🏴\u{E0067}\u{E007F}", #"🏴\u{E0067}\u{E007F}"#), ("1\u{200D}2", #"1\u{200D}2"#),
        ("\u{2028}\u{2066}x\u{2069}", #"\u{2028}\u{2066}x\u{2069}"#),
    ])
    func invisibleCharactersAreShown(text: String, shown: String) {
        #expect(TextRenderer().render(line: text) == shown)
    }

    /// Emoji of several scalars, and joiners that Persian and Indic scripts need to be readable.
    @Test(arguments: ["👩‍💻", "❤️", "🏳️‍🌈", "👩🏽‍🚀", "1️⃣", "☎︎", "👨‍👩‍👧‍👦", "می‌خواهم", "क्‍ष", "क्‌ष"])
    func joinersOfVisibleCharactersAreKept(text: String) {
        #expect(TextRenderer().render(line: text) == text)
    }

    @Test func textThatLooksLikeAnEscapeIsUnchanged() {
        #expect(render(.paragraph(#"\u{1B} \n"#)) == #"\u{1B} \n"# + "\n")
    }

    @Test func ordinaryTextOfAnyLanguageIsUnchanged() {
        let text = "Łukasz — “quoted” 美咲 🙂 e\u{301} עברית"
        #expect(render(.paragraph(text)) == text + "\n")
    }
}

extension String {
    fileprivate func components(of separator: String) -> Int {
        ranges(of: separator).count + 1
    }

    /// Services rely on the default, so announce a change of it in the release notes.
    @Test func columnsAreUpTo44WideByDefault() {
        #expect(isSame(TextRenderer(), as: .init(maximumColumnWidth: 44), unlike: .init(maximumColumnWidth: 45)))
    }
}
