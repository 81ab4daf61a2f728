import InwardCore
import Testing

struct VisibleTextTests {
    /// A joiner between two emoji makes them one. Anywhere else it is invisible.
    @Test(arguments: [
        ("👩\u{200D}💻", "👩\u{200D}💻"), ("👩\u{200D}a", #"👩\u{200D}a"#), ("a\u{200D}💻", #"a\u{200D}💻"#),
        ("👩\u{200D}\u{200D}💻", #"👩\u{200D}\u{200D}💻"#), ("👩\u{200D}", #"👩\u{200D}"#), ("\u{200D}💻", #"\u{200D}💻"#),
        ("❤\u{FE0F}\u{200D}🔥", "❤\u{FE0F}\u{200D}🔥"), ("क\u{94D}\u{200D}", "क\u{94D}\u{200D}"),
    ])
    func joinerIsKeptBetweenEmoji(text: String, visible: String) {
        #expect(text.visible == visible)
    }

    /// Persian words contain zero-width non-joiners (RFC 5892, appendix A.1).
    @Test(arguments: [
        ("می\u{200C}خواهم", "می\u{200C}خواهم"), ("می\u{200C}a", #"می\u{200C}a"#), ("a\u{200C}خ", #"a\u{200C}خ"#),
        ("क\u{94D}\u{200C}ष", "क\u{94D}\u{200C}ष"), ("می\u{200C}", #"می\u{200C}"#),
        ("\u{6FF}\u{200C}\u{6FF}", "\u{6FF}\u{200C}\u{6FF}"), ("क\u{200C}ष", #"क\u{200C}ष"#),
        ("٣\u{200C}٣", #"٣\u{200C}٣"#),
    ])
    func nonJoinerIsKeptBetweenArabicLetters(text: String, visible: String) {
        #expect(text.visible == visible)
    }

    @Test(arguments: [
        ("", ""), ("one two", "one two"), (" one\n\ttwo ", "one two"), ("one two ", "one two"),
        ("one twos", "one tw…"), ("one two three", "one tw…"), ("one    two three", "one tw…"),
    ])
    func excerptIsTheBeginningOnOneLine(text: String, excerpt: String) {
        #expect(text.excerpt(upTo: 7) == excerpt)
    }

    @Test func causeHasAtMost500Characters() {
        let longest = String(repeating: "a", count: 500)
        #expect(longest.causeExcerpt == longest)
        #expect((longest + "a").causeExcerpt == String(repeating: "a", count: 499) + "…")
    }

    /// Variation selectors choose how an emoji is drawn, as in a keycap.
    @Test(arguments: [
        ("☎\u{FE0E}", "☎\u{FE0E}"), ("1\u{FE0F}\u{20E3}", "1\u{FE0F}\u{20E3}"), ("1\u{FE0F}", #"1\u{FE0F}"#),
        ("a\u{FE0F}", #"a\u{FE0F}"#),
    ])
    func variationSelectorIsKeptAfterItsEmoji(text: String, visible: String) {
        #expect(text.visible == visible)
    }
}
