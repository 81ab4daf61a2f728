import InwardCore
public import InwardFetching
import InwardImages

/// An error thrown when a recipe is malformed, or exceeds a limit.
///
/// ```swift
/// do {
///     _ = try ImageRecipe("orient;resize=0x480")
/// } catch {
///     print(error)
///     // Step 2 of the image recipe, 'resize=0x480', is wrong: the width must be a whole number from 1 to 8192.
/// }
/// ```
public struct ImageRecipeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number of the step, counted from 1, or `nil` if the error concerns the whole recipe.
    public let step: Int?
    /// The characters of a watermark that its font lacks. Empty for other errors.
    public let missingCharacters: [Character]
    /// What is wrong and what is allowed, as a sentence.
    public let description: String
}

extension ImageRecipeError {
    static let empty = Self(
        step: nil,
        missingCharacters: [],
        description: "The image recipe has no steps. Write 'orient' for an image that is not changed."
    )

    static func tooLong(_ length: Int) -> Self {
        let limit = ImageRecipe.maximumLength
        return Self(
            step: nil,
            missingCharacters: [],
            description: "The image recipe has \(length) bytes, and at most \(limit) are allowed. Shorten it."
        )
    }

    static func tooManySteps(_ count: Int) -> Self {
        let limit = ImageRecipe.maximumSteps
        return Self(
            step: nil,
            missingCharacters: [],
            description: "The image recipe has \(count) steps, and at most \(limit) are allowed. Remove some."
        )
    }

    init(_ problem: RecipeStepProblem, step: Int, text: String) {
        self.step = step
        missingCharacters = problem.missingCharacters
        let excerpt = text.visible.excerpt(upTo: 60)
        description = "Step \(step) of the image recipe, '\(excerpt)', is wrong: \(problem.explanation)."
    }
}

extension ImageRecipeError: ProblemDetailsConvertible {
    /// The response to a client that sent the recipe: 422, with the text of the error. It repeats only what the client sent.
    public var problemDetails: ProblemDetails { ProblemDetails(422, detail: description) }
}

/// What is wrong with a step, before its number is known.
struct RecipeStepProblem: Error {
    let explanation: String
    var missingCharacters: [Character] = []

    init(_ explanation: String) { self.explanation = explanation }

    /// A number that is not in its range.
    init(_ name: String, mustBeIn range: ClosedRange<Int>) {
        self.init("the \(name) must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }

    /// A watermark with characters that the font lacks.
    init(missing characters: [Character]) {
        self.init("\(TypesettingError.builtInFont), and lacks \(characters.namedForErrors)")
        missingCharacters = characters
    }
}

extension TypesettingError {
    fileprivate static let builtInFont = "the font of watermarks has printable ASCII characters only"

    /// A watermark without a typesetter.
    static func missingFromBuiltInFont(_ characters: [Character]) -> TypesettingError {
        TypesettingError(
            .missingCharacters(characters),
            "cannot be drawn without a typesetter: \(builtInFont), and lacks \(characters.namedForErrors)"
        )
    }
}
