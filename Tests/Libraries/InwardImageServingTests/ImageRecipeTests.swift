import InwardCore
import InwardImageServing
import InwardImages
import InwardTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ImageRecipeTests {
    @Test(arguments: [
        ("orient", Orient() as any Plugin<ImageResult>), ("grayscale", Grayscale()),
        ("resize=640x480", Resize(width: 640, height: 480)),
        ("resize=640x480,mode=fill", Resize(width: 640, height: 480, mode: .fill)),
        ("resize=640x480,mode=fill,at=top", Resize(width: 640, height: 480, mode: .fill(.top))),
        ("resize=640x480,mode=exact,enlarge=yes", Resize(width: 640, height: 480, mode: .exact, enlarges: true)),
        ("resize=8192x1", Resize(width: 8_192, height: 1)),
        ("crop=20x10", Crop(to: ImageSize(clamping: 20, 10))),
        ("crop=20x10,at=bottom-left", Crop(to: ImageSize(clamping: 20, 10), at: .bottomLeft)),
        ("crop=20x10,x=0,y=8192", Crop(to: ImageSize(clamping: 20, 10), x: 0, y: 8_192)),
        ("blur=2.5", Blur(radius: 2.5)), ("blur=0.01", Blur(radius: 0.01)), ("blur=250", Blur(radius: 250)),
        ("corners=12.25", RoundedCorners(radius: 12.25)),
        ("watermark=RXhhbXBsZQ", Watermark(.text("Example", .white))),
        (
            "watermark=fH4-Pz8_,at=top-left,width=100,opacity=1,color=ff8c0080",
            Watermark(
                .text("|~>???", Color(red: 255, green: 140, blue: 0, alpha: 128)),
                at: .single(.topLeft),
                width: .ofWidth(1),
                opacity: 0.01
            )
        ),
        ("watermark=RXhhbXBsZQ,at=tiles", Watermark(.text("Example", .white), at: .tiled)),
    ])
    func canonicalTextMakesThePluginAndIsWrittenBack(text: String, plugin: any Plugin<ImageResult>) throws {
        let recipe = try ImageRecipe(text)
        #expect(recipe.description == text)
        #expect(try recipe.plugins() == PluginCollection([plugin]))
        #expect(try ImageRecipe(steps: recipe.steps) == recipe)
    }

    @Test(arguments: [
        ("resize=640x480,mode=fit,enlarge=no", "resize=640x480"),
        ("resize=9x9,enlarge=yes,at=center,mode=fill", "resize=9x9,mode=fill,enlarge=yes"),
        ("crop=9x9,at=center", "crop=9x9"), ("crop=9x9,y=2,x=1", "crop=9x9,x=1,y=2"),
        ("blur=2.50", "blur=2.5"), ("blur=2.0", "blur=2"), ("corners=1.05", "corners=1.05"),
        ("watermark=YQ,color=FF8C00FF,opacity=80,width=20,at=bottom-right", "watermark=YQ,color=ff8c00"),
        ("watermark=YQ,color=FFFFFF", "watermark=YQ"),
    ])
    func otherTextsOfARecipeAreTheSameRecipe(text: String, canonical: String) throws {
        #expect(try ImageRecipe(text).description == canonical)
        #expect(try ImageRecipe(text) == ImageRecipe(canonical))
        #expect(Set([try ImageRecipe(text), try ImageRecipe(canonical)]).count == 1)
    }

    @Test func orderOfStepsMatters() throws {
        let recipe = try ImageRecipe("blur=2;resize=9x9")
        #expect(try recipe.plugins() == PluginCollection([Blur(radius: 2), Resize(width: 9, height: 9)]))
        #expect(try recipe != ImageRecipe("resize=9x9;blur=2"))
    }

    @Test func radiiAreRoundedToHundredths() throws {
        let recipe = try ImageRecipe(steps: [.blur(radius: 2.000_1), .roundedCorners(radius: 1.0 / 3)])
        #expect(recipe.description == "blur=2;corners=0.33")
        #expect(try ImageRecipe(recipe.description) == recipe)
    }

    @Test func everyTextFitsIntoASegmentOfAPath() throws {
        let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
        let allowed = Set(unreserved + "!$&'()*+,;=")
        for seed in 0..<200 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            #expect(try Self.recipe(&random).description.allSatisfy(allowed.contains))
        }
    }

    @Test func textsOfRandomRecipesAreReadBack() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("textsOfRandomRecipesAreReadBack: seed \(seed)")
        var random = SplitMix64(seed: seed)
        for _ in 0..<2_000 {
            let recipe = try Self.recipe(&random)
            let copy = try ImageRecipe(recipe.description)
            #expect(copy == recipe && copy.description == recipe.description)
        }
    }

    private static func recipe(_ random: inout SplitMix64) throws -> ImageRecipe {
        let count = Int.random(in: 1...3, using: &random)
        return try ImageRecipe(steps: (0..<count).map { _ in step(&random) })
    }

    private static func step(_ random: inout SplitMix64) -> ImageRecipe.Step {
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        let size = ImageSize(clamping: number(1...8_192), number(1...8_192))
        let gravity = Gravity.allCases[number(0...8)]
        switch number(0...7) {
        case 0: return .resize(size, mode: [.fit, .fill(gravity), .exact][number(0...2)], enlarges: number(0...1) == 1)
        case 1: return .crop(size, at: .gravity(gravity))
        case 2: return .crop(size, at: .offset(x: number(0...8_192), y: number(0...8_192)))
        case 3: return .orient
        case 4: return .grayscale
        case 5: return .blur(radius: Double(number(1...25_000)) / 100)
        case 6: return .roundedCorners(radius: Double(number(1...819_200)) / 100)
        default:
            func byte() -> UInt8 { UInt8(number(0...255)) }
            let text = (0..<number(1...64)).map { _ in Character(Unicode.Scalar(UInt8(number(0x20...0x7E)))) }
            return .watermark(
                ImageRecipe.TextWatermark(
                    String(text),
                    color: Color(red: byte(), green: byte(), blue: byte(), alpha: [255, byte()][number(0...1)]),
                    at: number(0...1) == 0 ? .tiled : .single(gravity),
                    widthPercent: number(1...100),
                    opacityPercent: number(1...100)
                )
            )
        }
    }
}
