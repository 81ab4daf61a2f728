import InwardCore
import InwardFetching
import InwardImageServing
import InwardImages
import Testing

/// Tests watermarks in scripts that the built-in font lacks.
@Suite(.timeLimit(.minutes(5)))
struct ImageRecipeTextTests {
    private func recipe(_ text: String) throws(ImageRecipeError) -> ImageRecipe {
        try ImageRecipe(steps: [.watermark(ImageRecipe.TextWatermark(text))], hasTypesetter: true)
    }

    @Test(arguments: [
        ("안녕하세요", "watermark=7JWI64WV7ZWY7IS47JqU"), ("سلام", "watermark=2LPZhNin2YU"), ("☒", "watermark=4piS"),
        ("<b>x</b>", "watermark=PGI-eDwvYj4"), ("👩\u{200D}👧", "watermark=8J-RqeKAjfCfkac"),
    ])
    func textIsWrittenAndReadBack(text: String, written: String) throws {
        let recipe = try recipe(text)
        #expect(recipe.description == written)
        #expect(try ImageRecipe(written, hasTypesetter: true) == recipe)
        #expect(written.utf8.allSatisfy { $0 < 0x80 })
    }

    /// A signature and the keys of caches contain the text of the recipe, so equal recipes must have the same.
    @Test func composedAndDecomposedTextsAreDifferentRecipes() throws {
        let (composed, decomposed) = (try recipe("\u{D55C}"), try recipe("\u{1112}\u{1161}\u{11AB}"))
        #expect(composed != decomposed && composed.description != decomposed.description)
        #expect(Set([composed, decomposed, composed]).count == 2)
        for recipe in [composed, decomposed] {
            #expect(try ImageRecipe(recipe.description, hasTypesetter: true) == recipe)
        }
    }

    @Test func textIsAnErrorWithoutATypesetter() throws {
        let text = try recipe("안녕").description
        let error = #expect(throws: ImageRecipeError.self) { try ImageRecipe(text) }
        #expect(error?.missingCharacters == ["안", "녕"])
        #expect(error?.description.contains("printable ASCII characters only, and lacks '안', '녕'.") == true)
        // The recipe itself does not say whether there is a typesetter.
        let missing = #expect(throws: TypesettingError.self) { try recipe("a안").plugins() }
        #expect(missing?.missingCharacters == ["안"])
        #expect(missing?.description.contains("without a typesetter") == true)
    }

    @Test(arguments: ["\n", "\u{202E}", "\u{0}", "\u{2028}", "\u{200B}", "\u{7F}"])
    func characterThatControlsOthersIsRefused(character: String) {
        let error = #expect(throws: ImageRecipeError.self) { try recipe("a\(character)b") }
        #expect(error?.step == 1 && error?.description.contains("the text has the character '\\") == true)
    }

    @Test func lengthIsLimitedInCharactersAndBytes() throws {
        #expect(try recipe(String(repeating: "한", count: 64)).steps.count == 1)
        for text in [String(repeating: "한", count: 65), "a" + String(repeating: "\u{301}", count: 128), ""] {
            let error = #expect(throws: ImageRecipeError.self) { try recipe(text) }
            #expect(error?.description.contains("1 to 64 characters, in at most 256 bytes") == true)
        }
    }

    @Test func typesetterDrawsAllTexts() throws {
        let typesetter = StubTypesetter()
        let recipe = try ImageRecipe("watermark=YQ;grayscale;watermark=7ZWc,at=tiles,color=000000", hasTypesetter: true)
        let plugins = try recipe.plugins(typesetter: typesetter)
        #expect(typesetter.asked == ["a", "한"])
        let outlines = try ["a", "한"].map { try typesetter.outline(of: $0) }
        let expected: [any Plugin<ImageResult>] = [
            Watermark(.outline(outlines[0], .white)), Grayscale(), Watermark(.outline(outlines[1], .black), at: .tiled),
        ]
        #expect(plugins == PluginCollection(expected))
    }

    @Test func characterThatNoFontHasIsNamed() throws {
        let error = #expect(throws: TypesettingError.self) { try recipe("a☒").plugins(typesetter: StubTypesetter()) }
        #expect(error?.missingCharacters == ["☒"])
    }

    @Test(arguments: [
        (TypesettingError.missing(["☒"]), 422), (TypesettingError(.invalidText, "is empty"), 422),
        (TypesettingError(.unavailable, "cannot be typeset"), 503), (.cancelled, 503), (.timedOut, 503),
    ])
    func errorIsTheResponseToAnEditor(error: TypesettingError, status: Int) {
        let problem = ProblemDetails(error)
        #expect(problem.status.code == status)
        #expect((problem.detail == error.description) == (status == 422))
    }
}
