import InwardFetching
import InwardImageServing
import InwardImages
import InwardTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ImageRecipeErrorTests {
    private func error(_ text: String) -> ImageRecipeError? {
        do throws(ImageRecipeError) {
            _ = try ImageRecipe(text)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        ("orient;;grayscale", 2, "it is empty"), ("orient;", 2, "it is empty"), (";orient", 1, "it is empty"),
        ("resize=0x480", 1, "the width must be a whole number from 1 to 8192"),
        ("orient;resize=640x8193", 2, "the height must be a whole number from 1 to 8192"),
        ("resize=99999999999999999999x1", 1, "the width must be"),
        ("resize=9223372036854775808x1", 1, "the width must be"), ("resize=-1x1", 1, "the width must be"),
        ("resize=01x1", 1, "the width must be"), ("resize=1x1x1", 1, "it needs a size"),
        ("resize", 1, "it needs a size"),
        ("resize=", 1, "it needs a size"), ("resize=1x", 1, "the height must be"),
        ("resize=1x1,mode=fill,mode=fill", 1, "option 'mode' appears more than once"),
        ("resize=1x1,mode=cover", 1, "option 'mode' must be fit, fill or exact"),
        ("resize=1x1,at=top", 1, "option 'at' needs 'mode=fill'"),
        ("resize=1x1,mode=fill,at=up", 1, "must be one of top-left"),
        ("resize=1x1,enlarge=1", 1, "option 'enlarge' must be yes or no"),
        ("resize=1x1,fill", 1, "the form 'name=value'"),
        ("resize=1x1,dpr=2", 1, "'resize' has no option 'dpr'"), ("resize=1x1,", 1, "the form 'name=value'"),
        ("crop=1x1,x=1", 1, "options 'x' and 'y' together"), ("crop=1x1,at=top,x=1,y=1", 1, "option 'at' alone"),
        ("crop=1x1,x=1,y=8193", 1, "option 'y' must be a whole number from 0 to 8192"),
        ("orient=1", 1, "has no value"), ("grayscale,at=top", 1, "has no value"),
        ("blur=0", 1, "the radius must be a number from 0.01 to 250"), ("blur=250.01", 1, "the radius"),
        ("blur=1.234", 1, "the radius"), ("blur=1e3", 1, "the radius"), ("blur=nan", 1, "the radius"),
        ("blur=.5", 1, "the radius"), ("blur=1.", 1, "the radius"), ("blur=1.2.3", 1, "the radius"),
        ("blur", 1, "the radius"),
        ("corners=8192.01", 1, "the radius must be a number from 0.01 to 8192"),
        ("watermark=", 1, "the text must have 1 to 64 characters"), ("watermark", 1, "it needs a text in base64url"),
        ("watermark=YQ==", 1, "it needs a text in base64url"), ("watermark=YR", 1, "it needs a text in base64url"),
        ("watermark=Y", 1, "it needs a text in base64url"), ("watermark=_w", 1, "it needs a text in base64url"),
        ("watermark=YQ,opacity=0", 1, "option 'opacity' must be a whole number from 1 to 100"),
        ("watermark=YQ,width=101", 1, "option 'width' must be a whole number from 1 to 100"),
        ("watermark=YQ,color=white", 1, "6 or 8 hexadecimal digits"),
        ("watermark=YQ,color=-0-0-0", 1, "6 or 8 hexadecimal"),
        ("flip", 1, "a step must be one of resize, crop"), ("Resize=1x1", 1, "a step must be one of"),
        ("resize=1x1\u{0}", 1, "it may contain only letters and digits"), ("resize%3D1x1", 1, "it may contain only"),
        ("résize=1x1", 1, "it may contain only"), ("resize=１x1", 1, "it may contain only"),
        ("../orient", 1, "it may contain only"), ("orient\u{301}", 1, "it may contain only"),
        (" orient", 1, "it may contain only"),
    ])
    func wrongStepIsNamedWithWhatIsAllowed(text: String, step: Int, explanation: String) {
        let error = error(text)
        #expect(error?.step == step)
        #expect(error?.description.hasPrefix("Step \(step) of the image recipe, '") == true)
        #expect(error?.description.contains(explanation) == true, "\(error?.description ?? "no error")")
    }

    @Test func emptyRecipeIsRefused() {
        #expect(
            error("")?.description == "The image recipe has no steps. Write 'orient' for an image that is not changed."
        )
        #expect(throws: ImageRecipeError.self) { try ImageRecipe(steps: []) }
    }

    @Test func tooManyStepsAreRefused() {
        let steps = [ImageRecipe.Step](repeating: .grayscale, count: 9)
        #expect((try? ImageRecipe(steps: steps.dropLast())) != nil)
        #expect(throws: ImageRecipeError.self) { try ImageRecipe(steps: steps) }
        let text = steps.map(\.description).joined(separator: ";")
        #expect(error(text)?.description == "The image recipe has 9 steps, and at most 8 are allowed. Remove some.")
    }

    @Test func tooLongRecipeIsRefused() throws {
        #expect(
            error(String(repeating: "a", count: 513))?.description.contains("has 513 bytes, and at most 512") == true
        )
        // Each step is allowed, and all of them are too long together.
        let mark = ImageRecipe.TextWatermark(String(repeating: "a", count: 64))
        let steps = [ImageRecipe.Step](repeating: .watermark(mark), count: 6)
        #expect(throws: ImageRecipeError.self) { try ImageRecipe(steps: steps) }
        _ = try ImageRecipe(steps: steps.dropLast())
    }

    @Test func hugeTextIsRefusedWithoutReadingIt() {
        #expect(error(String(repeating: ";", count: 10_000_000))?.step == nil)
    }

    @Test func charactersThatTheFontLacksAreNamed() {
        let mark = ImageRecipe.TextWatermark("© Żubr\u{1B}[0m Ż")
        let error = #expect(throws: ImageRecipeError.self) { try ImageRecipe(steps: [.orient, .watermark(mark)]) }
        #expect(error?.missingCharacters == ["©", "Ż", "\u{1B}"] && error?.step == 2)
        #expect(error?.description.contains("lacks '©', 'Ż', '\\u{1B}'.") == true, "\(error?.description ?? "")")
    }

    @Test func watermarkOfManyForeignCharactersHasAShortError() {
        let text = String(String.UnicodeScalarView((0..<60).compactMap { Unicode.Scalar(0x4E00 + $0) }))
        let mark = ImageRecipe.TextWatermark(text)
        let error = #expect(throws: ImageRecipeError.self) { try ImageRecipe(steps: [.watermark(mark)]) }
        #expect(error?.missingCharacters.count == 60)
        #expect(error?.description.contains("and 52 more") == true)
        #expect((error?.description.count ?? 0) < 300)
    }

    @Test(arguments: [
        ImageRecipe.Step.blur(radius: .nan), .blur(radius: .infinity), .blur(radius: -1),
        .roundedCorners(radius: 1e300),
        .resize(ImageSize(clamping: 8_193, 1)), .crop(ImageSize(clamping: 1, 1), at: .offset(x: -1, y: 0)),
        .crop(ImageSize(clamping: 1, 1), at: .offset(x: .max, y: .max)),
        .watermark(ImageRecipe.TextWatermark("a" + String(repeating: "\u{301}", count: 100_000))),
        .watermark(ImageRecipe.TextWatermark("a", widthPercent: .max)),
    ])
    func stepsOutsideTheirLimitsAreRefused(step: ImageRecipe.Step) {
        let error = #expect(throws: ImageRecipeError.self) { try ImageRecipe(steps: [step]) }
        #expect((error?.description.utf8.count ?? 0) < 500)
    }

    @Test func randomTextsAreRefusedOrReadAsARecipe() {
        let seed = UInt64.random(in: 0 ... .max)
        print("randomTextsAreRefusedOrReadAsARecipe: seed \(seed)")
        var random = SplitMix64(seed: seed)
        let words = [
            "resize", "crop", "blur", "corners", "watermark", "orient", "grayscale", "=", "=", "=", "=", ",", ",", ";",
            ";", "640x480",
            "1x1", "x", "0", "2.5", "8192", "8193", ".", "-", "mode", "fill", "exact", "at", "top", "center", "y",
            "width", "YQ", "color",
            "ff8c00", "%3D", "\u{0}", "é", "\u{301}", "/", "..",
        ]
        var readCount = 0
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...9, using: &random)).map { _ in
                words[Int.random(in: words.indices, using: &random)]
            }.joined()
            guard let recipe = try? ImageRecipe(text) else { continue }
            readCount += 1
            #expect((try? ImageRecipe(recipe.description)) == recipe, "\(text.debugDescription)")
        }
        #expect(readCount > 10)
    }

    @Test func errorIsTheResponseToAnEditor() {
        let problem = error("blur=0").map { ProblemDetails($0) }
        #expect(problem?.status == 422 && problem?.detail.contains("'blur=0'") == true)
    }
}
