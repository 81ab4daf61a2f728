#if Vips
import InwardImages
import InwardTesting
import InwardVips
import Testing

/// These tests need fonts with Latin, Korean and Arabic letters, such as `fonts-dejavu-core` and `fonts-nanum`.
@Suite(.timeLimit(.minutes(5)))
struct PangoTypesetterTests {
    private let typesetter = PangoTypesetter()

    private func failure(_ text: String, _ typesetter: PangoTypesetter = PangoTypesetter()) -> TypesettingError? {
        do throws(TypesettingError) {
            _ = try typesetter.outline(of: text)
            return nil
        } catch {
            return error
        }
    }

    @Test func typesetterConforms() async throws {
        let texts = ["Example", "안녕하세요", "سلام", "Korean 한국어", "e\u{301}", "   "]
        try await TypesetterConformance(texts: texts, missing: "\u{10FFFD}").check(typesetter)
    }

    /// Returns white text on black.
    private func image(_ text: String, _ width: Int = 200, _ height: Int = 60) throws -> Image {
        let mark = Watermark(
            .outline(try typesetter.outline(of: text), .white),
            at: .single(.center, margin: 0),
            width: .ofWidth(1),
            opacity: 1
        )
        return try mark.filtered(Image(size: ImageSize(clamping: width, height), color: .black))
    }

    /// Returns the horizontal limits of what is drawn.
    private func limits(_ glyphs: some Sequence<TextOutline.Glyph>) -> ClosedRange<Double>? {
        let places = glyphs.flatMap { $0 }.map { segment in
            switch segment {
            case .move(let point), .line(let point), .quadratic(let point, _), .cubic(let point, _, _): point.x
            }
        }
        guard let left = places.min(), let right = places.max() else { return nil }
        return left...right
    }

    @Test(arguments: ["Example", "안녕하세요", "سلام", "ЖЯ", "Ωμέγα", "Korean 한국어", "abc سلام 123"])
    func scriptIsDrawn(text: String) throws {
        let outline = try typesetter.outline(of: text)
        #expect(outline.width > outline.height / 2 && !outline.glyphs.isEmpty)
        let drawn = try image(text).bytes
        let bright = stride(from: 0, to: drawn.count, by: 4).count { drawn[$0] > 200 }
        #expect(bright > 150, "\(bright) pixels of \(text) are bright.")
    }

    @Test func koreanSyllablesHaveOneGlyphEachAndDiffer() throws {
        let outline = try typesetter.outline(of: "한글")
        #expect(outline.glyphs.count == 2)
        #expect(try image("한") != image("글"))
        // The letters of a syllable that is decomposed are composed again.
        #expect(try typesetter.outline(of: "\u{1112}\u{1161}\u{11AB}").glyphs == typesetter.outline(of: "한").glyphs)
    }

    @Test func arabicLettersAreJoined() throws {
        let word = try typesetter.outline(of: "سلام")
        let apart = try "سلام".map { try typesetter.outline(of: String($0)) }
        let total = apart.reduce(0) { $0 + $1.width }
        #expect(word.width < 0.9 * total, "\(word.width) is not less than \(total).")
        // Joined letters have another form than those that stand alone.
        let letters = Set(apart.flatMap(\.glyphs).map { $0.count })
        #expect(word.glyphs.contains { !letters.contains($0.count) })
    }

    @Test func arabicRunsFromRightToLeft() throws {
        // Only the last letter has a dot below it, which is on the left.
        let first = try #require(try limits(typesetter.outline(of: "اااب").glyphs.prefix(1)))
        let alone = try #require(try limits(typesetter.outline(of: "ب").glyphs))
        #expect(abs((first.upperBound - first.lowerBound) - (alone.upperBound - alone.lowerBound)) < 1)
        let alef = try #require(try limits(typesetter.outline(of: "ا").glyphs))
        #expect(first.upperBound - first.lowerBound > 1.5 * (alef.upperBound - alef.lowerBound))
        let latin = try typesetter.outline(of: "lllW").glyphs.map(\.count)
        #expect(latin.first == latin.dropFirst().first && latin.last != latin.first)
    }

    @Test func charactersAreUpright() throws {
        let heights = try [".", "'"].map { text in
            let outline = try typesetter.outline(of: text)
            let middles = outline.glyphs.flatMap { $0 }.map { segment in
                switch segment {
                case .move(let point), .line(let point), .quadratic(let point, _), .cubic(let point, _, _): point.y
                }
            }
            return (middles.min() ?? 0) / outline.height...(middles.max() ?? 0) / outline.height
        }
        #expect(heights[0].lowerBound > 0.5 && heights[1].upperBound < 0.5, "\(heights)")
    }

    @Test func glyphsFollowEachOtherOnOneBaseline() throws {
        let outline = try typesetter.outline(of: "HH")
        let (first, second) = (
            try #require(limits(outline.glyphs.prefix(1))), try #require(limits(outline.glyphs.suffix(1)))
        )
        #expect(first.upperBound < second.lowerBound && second.upperBound <= outline.width)
        #expect(outline.height > 1.2 * 0.7 * 256 && outline.height < 2 * 256)
    }

    @Test(
        arguments: [
            ("Hello \u{10FFFD}", ["\u{10FFFD}"]), ("\u{F0000}한\u{F0001}\u{F0000}", ["\u{F0000}", "\u{F0001}"]),
            ("سلام\u{10FFFD}", ["\u{10FFFD}"]),
            // A glyph without an outline, as in fonts that have images.
            ("a\u{2800}b", ["\u{2800}"]),
            ("a\u{10FFFD}\u{301}", ["\u{10FFFD}\u{301}"]),
        ] as [(String, [Character])]
    )
    func characterThatNoFontHasIsNamed(text: String, characters: [Character]) throws {
        let error = try #require(failure(text))
        #expect(error.reason == .missingCharacters(characters) && error.missingCharacters == characters)
        #expect(error.description.contains("no installed font has '"))
    }

    @Test func markupIsDrawnLiterally() throws {
        let outline = try typesetter.outline(of: "<b>x</b>")
        #expect(outline.glyphs.count == 8)
        #expect(try outline.width > 3 * typesetter.outline(of: "x").width)
        #expect(try typesetter.outline(of: "&lt;").glyphs.count == 4)
    }

    @Test(arguments: ["two\nlines", "\u{202E}abc", "\u{0}", "a\u{2028}b", ""])
    func textThatIsNotALineIsRefused(text: String) {
        #expect(failure(text)?.reason == .invalidText)
    }

    @Test(arguments: ["W", "한", "س", "e\u{301}", "<"])
    func longestTextIsDrawnAndALongerOneRefused(character: String) throws {
        let longest = String(repeating: character, count: TextLine.maximumLength)
        #expect(try typesetter.outline(of: longest).width > 0)
        #expect(try image(longest, 400, 10).size == ImageSize(clamping: 400, 10))
        #expect(failure(longest + character)?.reason == .invalidText)
        #expect(failure(String(repeating: character, count: 1_000_000))?.reason == .invalidText)
    }

    @Test func spacesDrawNothing() throws {
        #expect(try typesetter.outline(of: "   ").glyphs.isEmpty)
        #expect(try image(" ") == Image(size: ImageSize(clamping: 200, 60), color: .black))
    }

    @Test func markIsSharpAtTheSizeAtWhichItIsDrawn() throws {
        // The share of gray pixels falls with the size. If a small image were scaled up, it would not.
        let shares = try [100, 1_600].map { width in
            let bytes = try image("HHHH", width, width / 2).bytes
            let values = stride(from: 0, to: bytes.count, by: 4).map { bytes[$0] }
            return Double(values.count { $0 > 0 && $0 < 255 }) / Double(values.count { $0 > 0 })
        }
        #expect(shares[1] < shares[0] / 8, "\(shares)")
    }

    @Test func fontAndLanguageAreChosenByTheCaller() throws {
        let bold = try typesetter.outline(of: "Hello")
        #expect(try PangoTypesetter(font: "Sans").outline(of: "Hello") != bold)
        #expect(try PangoTypesetter(font: "Sans Bold 99").outline(of: "Hello") == bold)
        // The first font is not installed. The other texts name neither a font nor a language.
        for font in [
            "No Such Font", "", "\u{0}", ",,,", String(repeating: "a", count: 10_000), "한 -5", "Sans Bold @wght=200",
        ] {
            #expect(try !PangoTypesetter(font: font, language: font).outline(of: "Hello 한").glyphs.isEmpty)
        }
    }

    @Test func concurrentCallsHaveTheResultsOfSingleOnes() async throws {
        let texts = ["Example", "안녕하세요", "سلام", "<b>x</b>", "ЖЯ"]
        let expected = try texts.map { try PangoTypesetter().outline(of: $0) }
        let other = PangoTypesetter()
        try await withThrowingTaskGroup(of: (Int, TextOutline).self) { group in
            for number in 0..<500 {
                let typesetter = number % 3 == 0 ? typesetter : number % 3 == 1 ? other : PangoTypesetter()
                group.addTask { (number % texts.count, try typesetter.outline(of: texts[number % texts.count])) }
            }
            for try await (index, outline) in group { #expect(outline == expected[index]) }
        }
    }

    @Test func cancelledTaskThrows() async {
        let reason = await withTaskGroup(of: TypesettingError.Reason?.self) { group in
            group.cancelAll()
            group.addTask { failure("Example")?.reason }
            return await group.next()
        }
        #expect(reason == .cancelled)
    }
}
#endif
