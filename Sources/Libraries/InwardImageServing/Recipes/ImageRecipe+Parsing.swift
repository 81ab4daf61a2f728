import InwardImages

extension ImageRecipe {
    /// Reads a recipe, such as `resize=640x480,mode=fill;grayscale`.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - hasTypesetter: Whether a typesetter draws the watermarks, so that their texts may have characters that the built-in
    ///     font lacks.
    /// - Throws: An ``ImageRecipeError`` that names the step that is wrong, and says what is allowed.
    public init(_ text: String, hasTypesetter: Bool = false) throws(ImageRecipeError) {
        // Checked first, so that a long text costs nothing.
        guard text.utf8.count <= Self.maximumLength else { throw .tooLong(text.utf8.count) }
        guard !text.isEmpty else { throw .empty }
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        guard parts.count <= Self.maximumSteps else { throw .tooManySteps(parts.count) }
        var steps: [Step] = []
        for (index, part) in parts.enumerated() {
            do throws(RecipeStepProblem) { steps.append(try Step(part).checked(hasTypesetter)) } catch {
                throw ImageRecipeError(error, step: index + 1, text: String(part))
            }
        }
        try self.init(steps: steps, hasTypesetter: hasTypesetter)
    }
}

extension ImageRecipe.Step {
    fileprivate init(_ text: Substring) throws(RecipeStepProblem) {
        var arguments = try RecipeArguments(text)
        switch arguments.name {
        case "resize":
            let size = try arguments.size()
            self = .resize(size, mode: try arguments.mode(), enlarges: try arguments.isEnlarging())
        case "crop":
            let size = try arguments.size()
            self = .crop(size, at: try arguments.cropPosition())
        case "orient":
            try arguments.checkHasNoValue()
            self = .orient
        case "grayscale":
            try arguments.checkHasNoValue()
            self = .grayscale
        case "blur": self = .blur(radius: try arguments.radius(upTo: ImageRecipe.maximumBlurRadius))
        case "corners": self = .roundedCorners(radius: try arguments.radius(upTo: ImageRecipe.maximumSide))
        case "watermark": self = .watermark(try arguments.watermark())
        default:
            throw RecipeStepProblem(
                "a step must be one of resize, crop, orient, grayscale, blur, corners and watermark"
            )
        }
        try arguments.checkAreRead()
    }
}

extension RecipeArguments {
    fileprivate mutating func size() throws(RecipeStepProblem) -> ImageSize {
        let sides = 1...ImageRecipe.maximumSide
        let parts = value?.split(separator: "x", omittingEmptySubsequences: false) ?? []
        guard parts.count == 2 else { throw RecipeStepProblem("it needs a size, such as '\(name)=640x480'") }
        guard let width = Int(recipeDigits: parts[0]), sides.contains(width) else {
            throw RecipeStepProblem("width", mustBeIn: sides)
        }
        guard let height = Int(recipeDigits: parts[1]), sides.contains(height) else {
            throw RecipeStepProblem("height", mustBeIn: sides)
        }
        return ImageSize(clamping: width, height)
    }

    fileprivate mutating func mode() throws(RecipeStepProblem) -> Resize.Mode {
        let mode = take("mode")
        let position = try take("at").map { text throws(RecipeStepProblem) in try Gravity(recipeName: text) }
        switch mode {
        case "fill": return .fill(position ?? .center)
        case nil, "fit", "exact":
            guard position == nil else { throw RecipeStepProblem("option 'at' needs 'mode=fill'") }
            return mode == "exact" ? .exact : .fit
        default: throw RecipeStepProblem("option 'mode' must be fit, fill or exact")
        }
    }

    fileprivate mutating func isEnlarging() throws(RecipeStepProblem) -> Bool {
        switch take("enlarge") {
        case nil, "no": false
        case "yes": true
        default: throw RecipeStepProblem("option 'enlarge' must be yes or no")
        }
    }

    fileprivate mutating func cropPosition() throws(RecipeStepProblem) -> ImageRecipe.CropPosition {
        let position = take("at")
        let x = try number("x", in: 0...ImageRecipe.maximumSide)
        let y = try number("y", in: 0...ImageRecipe.maximumSide)
        switch (position, x, y) {
        case (let position?, nil, nil): return .gravity(try Gravity(recipeName: position))
        case (nil, nil, nil): return .gravity(.center)
        case (nil, let x?, let y?): return .offset(x: x, y: y)
        default: throw RecipeStepProblem("it needs option 'at' alone, or options 'x' and 'y' together")
        }
    }

    fileprivate func radius(upTo limit: Int) throws(RecipeStepProblem) -> Double {
        let parts = value?.split(separator: ".", omittingEmptySubsequences: false) ?? []
        let problem = RecipeStepProblem("the radius must be a number from 0.01 to \(limit), with at most two decimals")
        guard (1...2).contains(parts.count), let whole = Int(recipeDigits: parts[0]) else { throw problem }
        guard parts.count == 2 else { return Double(whole) }
        let decimals = parts[1]
        guard (1...2).contains(decimals.utf8.count), let rest = Int(recipeDigits: "1" + decimals) else { throw problem }
        let hundredths = decimals.utf8.count == 1 ? (rest - 10) * 10 : rest - 100
        return Double(whole * 100 + hundredths) / 100
    }

    fileprivate mutating func watermark() throws(RecipeStepProblem) -> ImageRecipe.TextWatermark {
        guard let value, let bytes = Base64URL.bytes(of: value), let text = String(validating: bytes, as: UTF8.self)
        else { throw RecipeStepProblem("it needs a text in base64url without padding, such as 'watermark=RXhhbXBsZQ'") }
        let placement: ImageRecipe.TextWatermark.Placement
        switch take("at") {
        case nil: placement = .single(.bottomRight)
        case "tiles": placement = .tiled
        case let position?: placement = .single(try Gravity(recipeName: position))
        }
        return ImageRecipe.TextWatermark(
            text,
            color: try take("color").map { text throws(RecipeStepProblem) in try Color(recipeText: text) } ?? .white,
            at: placement,
            widthPercent: try number("width", in: 1...100) ?? 20,
            opacityPercent: try number("opacity", in: 1...100) ?? 80
        )
    }
}

extension Gravity {
    fileprivate init(recipeName name: Substring) throws(RecipeStepProblem) {
        guard let gravity = Self.allCases.first(where: { $0.recipeName == name }) else {
            let names = Self.allCases.map(\.recipeName).joined(separator: ", ")
            throw RecipeStepProblem("a position must be one of \(names)")
        }
        self = gravity
    }
}

extension Color {
    fileprivate init(recipeText text: Substring) throws(RecipeStepProblem) {
        let problem = RecipeStepProblem("option 'color' must have 6 or 8 hexadecimal digits, such as 'color=ff8c00'")
        let digits = Array(text.utf8)
        guard digits.count == 6 || digits.count == 8 else { throw problem }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            // The initializer also reads a sign, as in `-0`.
            guard digits[index] != UInt8(ascii: "-"),
                let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16)
            else { throw problem }
            bytes.append(byte)
        }
        self.init(red: bytes[0], green: bytes[1], blue: bytes[2], alpha: bytes.count == 4 ? bytes[3] : 255)
    }
}
