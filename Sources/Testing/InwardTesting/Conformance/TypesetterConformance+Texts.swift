import InwardImages

/// A text with its outline.
struct TypesetText: Sendable {
    let text: String
    let outline: TextOutline

    /// The text as it appears in a sentence.
    var name: String { "“\(text)”" }

    /// Whether nothing needs to be drawn.
    var isBlank: Bool { text.allSatisfy(\.isWhitespace) }

    /// Whether something is drawn, if it needs to be.
    var violations: [String] {
        !isBlank && outline.drawnCount == 0 ? ["\(name) must be drawn, but has no segments."] : []
    }
}

extension TextOutline {
    /// The number of glyphs that are drawn.
    fileprivate var drawnCount: Int { glyphs.count { !$0.isEmpty } }
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
