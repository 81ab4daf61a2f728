import InwardImages

/// A text with its outline.
struct TypesetText: Sendable {
    let text: String
    let outline: TextOutline

    /// The text as it appears in a sentence.
    var name: String { "“\(text)”" }

    /// Whether nothing needs to be drawn.
    var isBlank: Bool { text.allSatisfy(\.isWhitespace) }

    /// What is wrong with the outline by itself.
    var violations: [String] {
        if !isBlank, outline.drawnCount == 0 { return ["\(name) must be drawn, but has no segments."] }
        return Self.violations(of: name, outline.glyphs, width: outline.width, height: outline.height)
    }

    /// Returns what is wrong with the sides of glyphs.
    static func violations(
        of name: String,
        _ glyphs: [TextOutline.Glyph],
        width: Double,
        height: Double
    ) -> [String] {
        guard width > 0, width.isFinite, height > 0, height.isFinite else {
            return ["\(name) must have positive and finite sides, but has \(width) and \(height)."]
        }
        // False for NaN.
        let isInside = glyphs.joined().flatMap(\.points).allSatisfy { point in
            (0...width).contains(point.x) && (0...height).contains(point.y)
        }
        return isInside ? [] : ["\(name) must lie within the sides of its outline, but does not."]
    }
}

extension TextOutline {
    /// The number of glyphs that are drawn.
    fileprivate var drawnCount: Int { glyphs.count { !$0.isEmpty } }
}

extension TextOutline.Segment {
    fileprivate var points: [TextOutline.Point] {
        switch self {
        case .move(let point), .line(let point): [point]
        case .quadratic(let point, let control): [point, control]
        case .cubic(let point, let control1, let control2): [point, control1, control2]
        }
    }
}

extension TypesetterConformance {
    /// Texts with markup, each with what it would be if the markup were interpreted.
    private static let markup = [("<b>x</b>", "x"), ("&amp;", "&")]

    /// Markup is drawn as it is.
    static func markupViolations(_ typesetter: any Typesetter) -> [String] {
        markup.flatMap { text, content -> [String] in
            do throws(TypesettingError) {
                let outline = try typesetter.outline(of: text)
                let once = try typesetter.outline(of: content)
                let twice = try typesetter.outline(of: content + content)
                // Interpreted markup can also differ, such as in its weight. But it is not that much wider.
                let isDrawn = outline != once && outline.drawnCount >= once.drawnCount && outline.width > twice.width
                return isDrawn ? [] : ["“\(text)” must be drawn as it is, but is drawn like “\(content)”."]
            } catch {
                // A typesetter without these characters does not interpret them either.
                guard error.missingCharacters.isEmpty else { return [] }
                return ["“\(text)” must be drawn as it is, but failed: \(error)"]
            }
        }
    }

    /// A character that no font has is an error, at the beginning of each text, in its middle and at its end.
    static func missingViolations(
        _ typesetter: any Typesetter,
        _ missing: Character,
        in texts: [String]
    ) -> [String] {
        texts.flatMap { text in
            Set([0, text.count / 2, text.count]).sorted().flatMap { place -> [String] in
                let line = String(text.prefix(place)) + String(missing) + String(text.dropFirst(place))
                // A mark may combine with the character before it.
                return line.contains(missing) ? violations(of: typesetter, line, lacking: missing) : []
            }
        }
    }

    private static func violations(
        of typesetter: any Typesetter,
        _ text: String,
        lacking missing: Character
    ) -> [String] {
        let name = "“\(text)” with \([missing].namedForErrors), which no font has,"
        do throws(TypesettingError) {
            _ = try typesetter.outline(of: text)
            return ["\(name) must fail, but is drawn."]
        } catch {
            guard case .missingCharacters(let characters) = error.reason else {
                return ["\(name) must fail because of missing characters, but failed as \(error.reason)."]
            }
            guard characters.contains(missing) else {
                return ["\(name) must fail with an error that names it, but the error does not."]
            }
            guard Set(characters) == [missing] else {
                return ["\(name) must fail with an error that names only it, but the error also names others."]
            }
            return []
        }
    }
}
