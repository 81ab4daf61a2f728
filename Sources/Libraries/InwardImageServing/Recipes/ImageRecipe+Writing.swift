import InwardImages

extension ImageRecipe.Step: CustomStringConvertible {
    /// The canonical text of the step, such as `resize=640x480,mode=fill`. Options that have their default are omitted.
    public var description: String {
        switch self {
        case .resize(let size, let mode, let enlarges):
            text("resize", size.recipeText, mode.options + (enlarges ? ["enlarge=yes"] : []))
        case .crop(let size, .gravity(.center)): text("crop", size.recipeText, [])
        case .crop(let size, .gravity(let gravity)): text("crop", size.recipeText, ["at=\(gravity.recipeName)"])
        case .crop(let size, .offset(let x, let y)): text("crop", size.recipeText, ["x=\(x)", "y=\(y)"])
        case .orient: "orient"
        case .grayscale: "grayscale"
        case .blur(let radius): text("blur", radius.recipeText, [])
        case .roundedCorners(let radius): text("corners", radius.recipeText, [])
        case .watermark(let mark): text("watermark", Base64URL.text(of: mark.text.utf8), mark.options)
        }
    }

    private func text(_ name: String, _ value: String, _ options: [String]) -> String {
        (["\(name)=\(value)"] + options).joined(separator: ",")
    }

    /// Returns the step in its canonical form.
    ///
    /// - Throws: A `RecipeStepProblem` if it exceeds a limit, or if it has no typesetter and the built-in font lacks a character.
    func checked(_ hasTypesetter: Bool) throws(RecipeStepProblem) -> Self {
        let sides = 1...ImageRecipe.maximumSide
        let places = 0...ImageRecipe.maximumSide
        switch self {
        case .resize(let size, _, _):
            try size.check(in: sides)
            return self
        case .crop(let size, let position):
            try size.check(in: sides)
            if case .offset(let x, let y) = position {
                guard places.contains(x) else { throw RecipeStepProblem("option 'x'", mustBeIn: places) }
                guard places.contains(y) else { throw RecipeStepProblem("option 'y'", mustBeIn: places) }
            }
            return self
        case .orient, .grayscale: return self
        case .blur(let radius): return .blur(radius: try radius.hundredths(upTo: ImageRecipe.maximumBlurRadius))
        case .roundedCorners(let radius):
            return .roundedCorners(radius: try radius.hundredths(upTo: ImageRecipe.maximumSide))
        case .watermark(let mark):
            try mark.check(hasTypesetter)
            return self
        }
    }
}

extension Resize.Mode {
    fileprivate var options: [String] {
        switch self {
        case .fit: []
        case .fill(.center): ["mode=fill"]
        case .fill(let gravity): ["mode=fill", "at=\(gravity.recipeName)"]
        case .exact: ["mode=exact"]
        }
    }
}

extension ImageSize {
    fileprivate var recipeText: String { "\(width)x\(height)" }

    fileprivate func check(in range: ClosedRange<Int>) throws(RecipeStepProblem) {
        guard range.contains(width) else { throw RecipeStepProblem("width", mustBeIn: range) }
        guard range.contains(height) else { throw RecipeStepProblem("height", mustBeIn: range) }
    }
}

extension Double {
    /// Returns the number rounded to hundredths.
    fileprivate func hundredths(upTo limit: Int) throws(RecipeStepProblem) -> Double {
        let rounded = (self * 100).rounded()
        guard rounded >= 1, rounded <= Double(limit * 100) else {
            throw RecipeStepProblem("the radius must be a number from 0.01 to \(limit), with at most two decimals")
        }
        return rounded / 100
    }

    /// The number with at most two decimals. Numbers that no recipe may have are written as they are, for errors.
    fileprivate var recipeText: String {
        guard let hundredths = Int(exactly: (self * 100).rounded()), hundredths > 0 else { return "\(self)" }
        let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
        if rest == 0 { return "\(whole)" }
        return rest % 10 == 0 ? "\(whole).\(rest / 10)" : "\(whole).\(rest / 10)\(rest % 10)"
    }
}

extension ImageRecipe.TextWatermark {
    fileprivate var options: [String] {
        var options: [String] = []
        switch placement {
        case .single(.bottomRight): break
        case .single(let gravity): options.append("at=\(gravity.recipeName)")
        case .tiled: options.append("at=tiles")
        }
        if widthPercent != 20 { options.append("width=\(widthPercent)") }
        if opacityPercent != 80 { options.append("opacity=\(opacityPercent)") }
        if color != .white { options.append("color=\(color.recipeText)") }
        return options
    }

    fileprivate func check(_ hasTypesetter: Bool) throws(RecipeStepProblem) {
        let limit = ImageRecipe.maximumWatermarkLength
        // Counted in bytes first, because a single character can have any number of them.
        guard !text.isEmpty, text.utf8.count <= 4 * limit, text.count <= limit else {
            throw RecipeStepProblem("the text must have 1 to \(limit) characters, in at most \(4 * limit) bytes")
        }
        if hasTypesetter {
            do throws(TypesettingError) { _ = try TextLine(text) } catch {
                throw RecipeStepProblem("the text \(error.explanation)")
            }
        } else {
            let missing = Watermark.missingCharacters(in: text)
            guard missing.isEmpty else { throw RecipeStepProblem(missing: missing) }
        }
        guard (1...100).contains(widthPercent) else {
            throw RecipeStepProblem("option 'width'", mustBeIn: 1...100)
        }
        guard (1...100).contains(opacityPercent) else {
            throw RecipeStepProblem("option 'opacity'", mustBeIn: 1...100)
        }
    }
}

extension Color {
    fileprivate var recipeText: String {
        let bytes = alpha == 255 ? [red, green, blue] : [red, green, blue, alpha]
        return bytes.map { String(0x100 + Int($0), radix: 16).dropFirst() }.joined()
    }
}

extension Gravity {
    /// The name of the position in recipes.
    var recipeName: String {
        switch self {
        case .topLeft: "top-left"
        case .top: "top"
        case .topRight: "top-right"
        case .left: "left"
        case .center: "center"
        case .right: "right"
        case .bottomLeft: "bottom-left"
        case .bottom: "bottom"
        case .bottomRight: "bottom-right"
        }
    }
}
