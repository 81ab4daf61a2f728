public import InwardCore
public import InwardImages

/// How a server processes an image: a list of steps, with a text that fits into one segment of a URL path.
///
/// ```swift
/// let recipe = try ImageRecipe("resize=640x480,mode=fill;blur=2.5")
/// print(recipe)  // resize=640x480,mode=fill;blur=2.5
///
/// let same = try ImageRecipe(steps: [.resize(ImageSize(clamping: 640, 480), mode: .fill), .blur(radius: 2.5)])
/// print(recipe == same)  // true
/// ```
///
/// The steps are separated by semicolons and run in order. A step has a name, and most have a value and options:
///
/// | step | value | options |
/// |---|---|---|
/// | `resize=640x480` | the size | `mode=fit` (default), `fill` or `exact`; `at=top`, the part that `fill` keeps; `enlarge=yes` |
/// | `crop=200x200` | the size | `at=top-left`, or `x=10` and `y=20` |
/// | `orient`, `grayscale` | | |
/// | `blur=2.5` | the radius in pixels, up to ``maximumBlurRadius`` | |
/// | `corners=12` | the radius in pixels, up to ``maximumSide`` | |
/// | `watermark=RXhhbXBsZQ` | a text in base64url without padding | `at=top-left` or `at=tiles`, `width=20` and `opacity=80` in percent, `color=ffffff` |
///
/// Positions are `top-left`, `top`, `top-right`, `left`, `center`, `right`, `bottom-left`, `bottom` and `bottom-right`. A
/// watermark may have four bytes of color, of which the last one is the alpha.
///
/// The built-in font of watermarks has printable ASCII characters only, and other characters are an error. With a `Typesetter`,
/// such as `PangoTypesetter` of `InwardVips`, a watermark may have characters of all scripts:
///
/// ```swift
/// func addGreeting(to loader: inout ImageLoader, _ typesetter: any Typesetter) throws {
///     let mark = ImageRecipe.TextWatermark("안녕하세요")
///     let recipe = try ImageRecipe(steps: [.watermark(mark)], hasTypesetter: true)
///     for plugin in try recipe.plugins(typesetter: typesetter) { loader.addPlugin(plugin) }
/// }
/// ```
///
/// A recipe has one canonical text, its ``description``. ``init(_:hasTypesetter:)`` also reads texts with options in another
/// order, with options that state a default, with decimals such as `2.50`, and with colors in upper case, because people write
/// recipes into settings. Equal recipes have the same canonical text, so caches find the same image for all of them. URLs are
/// stricter: a signature covers the text itself, and ``ImageURLSigner`` signs canonical texts only.
public struct ImageRecipe: Hashable, Sendable, CustomStringConvertible {
    /// The steps in order, at least one. Radii are rounded to hundredths.
    public let steps: [Step]

    /// The maximum number of steps, 8.
    public static let maximumSteps = 8
    /// The maximum length of a text, 512 bytes.
    public static let maximumLength = 512
    /// The maximum length of a side, a coordinate or a corner's radius, 8,192 pixels.
    public static let maximumSide = 8_192
    /// The maximum radius of a blur, 250 pixels.
    public static let maximumBlurRadius = 250
    /// The maximum length of a watermark's text, 64 characters.
    public static let maximumWatermarkLength = 64

    /// Creates a recipe from steps.
    ///
    /// - Parameters:
    ///   - steps: The steps in order.
    ///   - hasTypesetter: Whether a typesetter draws the watermarks, so that their texts may have characters that the built-in
    ///     font lacks. ``plugins(typesetter:)`` then checks whether there are fonts for them.
    /// - Throws: An ``ImageRecipeError`` if there are no steps or too many, or if a number or a text is outside its limits.
    public init(steps: [Step], hasTypesetter: Bool = false) throws(ImageRecipeError) {
        guard !steps.isEmpty else { throw .empty }
        guard steps.count <= Self.maximumSteps else { throw .tooManySteps(steps.count) }
        var checked: [Step] = []
        for (index, step) in steps.enumerated() {
            do throws(RecipeStepProblem) { checked.append(try step.checked(hasTypesetter)) } catch {
                throw ImageRecipeError(error, step: index + 1, text: step.description)
            }
        }
        self.steps = checked
        let length = description.utf8.count
        guard length <= Self.maximumLength else { throw .tooLong(length) }
    }

    /// The canonical text.
    public var description: String { steps.map(\.description).joined(separator: ";") }

    /// Returns the plugins that process an image, for an image loader.
    ///
    /// ```swift
    /// var loader = loader
    /// for plugin in try ImageRecipe("grayscale;corners=12").plugins() { loader.addPlugin(plugin) }
    /// ```
    ///
    /// - Parameter typesetter: The typesetter for the texts of all watermarks, or `nil` for the built-in font.
    /// - Returns: The plugins, in the order of the steps.
    /// - Throws: A `TypesettingError` if the font, or every font of the typesetter, lacks a character, or if the typesetter fails.
    public func plugins(typesetter: (any Typesetter)? = nil) throws(TypesettingError) -> PluginCollection<ImageResult> {
        var plugins = PluginCollection<ImageResult>([])
        for step in steps { plugins.add(try step.plugin(typesetter)) }
        return plugins
    }

    /// Whether the recipe draws text.
    var hasText: Bool {
        steps.contains { step in
            if case .watermark = step { true } else { false }
        }
    }

    /// The size of the result for a large image, or `nil` if it depends on the image.
    var size: ImageSize? {
        steps.reduce(nil) { size, step in
            switch step {
            case .resize(let target, _, _): target
            case .crop(let target, _):
                ImageSize(
                    clamping: min(target.width, size?.width ?? target.width),
                    min(target.height, size?.height ?? target.height)
                )
            case .orient, .grayscale, .blur, .roundedCorners, .watermark: size
            }
        }
    }
}

extension ImageRecipe {
    /// A step of a recipe.
    public enum Step: Hashable, Sendable {
        /// Resizes the image.
        case resize(ImageSize, mode: Resize.Mode = .fit, enlarges: Bool = false)
        /// Crops the image to a rectangle.
        case crop(ImageSize, at: CropPosition = .gravity(.center))
        /// Applies the orientation to the pixels. Image loaders always do that first, so as the only step it leaves the image as
        /// it is.
        case orient
        /// Converts the image to grayscale.
        case grayscale
        /// Blurs the image, with a radius in pixels.
        case blur(radius: Double)
        /// Rounds the corners, with a radius in pixels.
        case roundedCorners(radius: Double)
        /// Draws a text over the image.
        case watermark(TextWatermark)
    }

    /// The position of the rectangle that a step crops to.
    public enum CropPosition: Hashable, Sendable {
        /// One of nine positions.
        case gravity(Gravity)
        /// The top left corner of the rectangle, as the number of columns to its left and of rows above it.
        case offset(x: Int, y: Int)
    }

    /// A text that a step draws over an image.
    ///
    /// ```swift
    /// let mark = ImageRecipe.TextWatermark("example.org", at: .single(.topLeft), opacityPercent: 60)
    /// let recipe = try ImageRecipe(steps: [.resize(ImageSize(clamping: 640, 640)), .watermark(mark)])
    /// ```
    public struct TextWatermark: Hashable, Sendable {
        /// Where the text appears.
        public enum Placement: Hashable, Sendable {
            /// At one of nine positions.
            case single(Gravity)
            /// Repeated across the image.
            case tiled
        }

        /// The text. Without a typesetter, it may have printable ASCII characters only.
        public let text: String
        /// The color of the text.
        public let color: Color
        /// Where the text appears.
        public let placement: Placement
        /// The width of the text, as a percentage of the width of the image.
        public let widthPercent: Int
        /// The opacity, in percent.
        public let opacityPercent: Int

        /// Creates a watermark. ``ImageRecipe/init(steps:hasTypesetter:)`` checks it.
        public init(
            _ text: String,
            color: Color = .white,
            at placement: Placement = .single(.bottomRight),
            widthPercent: Int = 20,
            opacityPercent: Int = 80
        ) {
            self.text = text
            self.color = color
            self.placement = placement
            self.widthPercent = widthPercent
            self.opacityPercent = opacityPercent
        }
    }
}

extension ImageRecipe.Step {
    /// Returns the plugin for this step.
    fileprivate func plugin(_ typesetter: (any Typesetter)?) throws(TypesettingError) -> any Plugin<ImageResult> {
        switch self {
        case .resize(let size, let mode, let enlarges): Resize(to: size, mode: mode, enlarges: enlarges)
        case .crop(let size, .gravity(let gravity)): Crop(to: size, at: gravity)
        case .crop(let size, .offset(let x, let y)): Crop(to: size, x: x, y: y)
        case .orient: Orient()
        case .grayscale: Grayscale()
        case .blur(let radius): Blur(radius: radius)
        case .roundedCorners(let radius): RoundedCorners(radius: radius)
        case .watermark(let mark):
            Watermark(
                try mark.pluginMark(typesetter),
                at: mark.pluginPlacement,
                width: .ofWidth(Double(mark.widthPercent) / 100),
                opacity: Double(mark.opacityPercent) / 100
            )
        }
    }
}

extension ImageRecipe.TextWatermark {
    /// Compares all properties, and the texts by their bytes: a recipe has one canonical text, and a composed `é` and a decomposed
    /// one make different texts.
    public static func == (first: Self, second: Self) -> Bool {
        first.text.utf8.elementsEqual(second.text.utf8) && first.color == second.color
            && first.placement == second.placement && first.widthPercent == second.widthPercent
            && first.opacityPercent == second.opacityPercent
    }

    /// Hashes the properties that are compared.
    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(color)
        hasher.combine(placement)
        hasher.combine(widthPercent)
        hasher.combine(opacityPercent)
    }

    fileprivate func pluginMark(_ typesetter: (any Typesetter)?) throws(TypesettingError) -> Watermark.Mark {
        if let typesetter { return .outline(try typesetter.outline(of: text), color) }
        let missing = Watermark.missingCharacters(in: text)
        guard missing.isEmpty else { throw .missingFromBuiltInFont(missing) }
        return .text(text, color)
    }

    fileprivate var pluginPlacement: Watermark.Placement {
        switch placement {
        case .single(let gravity): .single(gravity)
        case .tiled: .tiled
        }
    }
}
