public import InwardImages

/// A check of the requirements for every typesetter.
///
/// Pass texts that the typesetter has fonts for, and a character that no font has. Run the check in a test of any framework:
///
/// ```swift
/// func checkConformance(of typesetter: any Typesetter) async throws {
///     try await TypesetterConformance(texts: ["Example", "안녕하세요"], missing: "\u{10FFFD}").check(typesetter)
/// }
/// ```
///
/// The check requires that:
///
/// - equal texts have equal outlines, whether the calls are sequential or concurrent;
/// - a text that is not blank is drawn, and is wider if it is repeated;
/// - markup such as `<b>x</b>` and `&amp;` is drawn as it is;
/// - a character that no font has is an error that names it, wherever it occurs, and nothing is drawn in its place;
/// - a call that is cancelled or reaches its deadline returns its complete outline, or fails as `cancelled` or `timedOut`,
///   whether this happens before it begins or when it checks its deadline.
///
/// A typesetter that crashes ends the test process, and one that never returns makes the check hang.
public struct TypesetterConformance: Sendable {
    private let texts: [String]
    private let missing: Character?

    /// Creates a check.
    ///
    /// - Parameters:
    ///   - texts: Lines of text that the typesetter has fonts for, of at most 128 characters each. Pass one for each script.
    ///   - missing: A character that no font of the typesetter has, or `nil` to skip the checks of missing characters.
    public init(texts: [String] = ["Example", "Wi", "Hello, World!"], missing: Character?) {
        self.texts = texts
        self.missing = missing
    }

    /// Checks a typesetter.
    ///
    /// - Throws: A ``ConformanceFailure`` that lists the violations, with the first cases of each check.
    public func check(_ typesetter: any Typesetter) async throws(ConformanceFailure) {
        var violations: [String] = []
        if texts.isEmpty { violations.append("There is nothing to check. Pass at least one text.") }
        var specimens: [TypesetText] = []
        for text in texts {
            do throws(TypesettingError) {
                specimens.append(TypesetText(text: text, outline: try typesetter.outline(of: text)))
            } catch {
                violations.append("“\(text)” must be typeset, but failed: \(error)")
            }
        }
        violations += specimens.flatMap(\.violations).reduced()
        violations += specimens.flatMap { lengthViolations(typesetter, $0) }.reduced()
        violations += repetitionViolations(typesetter, specimens).reduced()
        violations += await concurrencyViolations(typesetter, specimens).reduced()
        violations += Self.markupViolations(typesetter)
        if let missing {
            violations += Self.missingViolations(typesetter, missing, in: [""] + specimens.map(\.text)).reduced()
        }
        for specimen in specimens { violations += await cancellationViolations(typesetter, specimen).reduced() }
        if !violations.isEmpty { throw ConformanceFailure(violations: violations) }
    }

    /// A text is wider if it is repeated.
    private func lengthViolations(_ typesetter: any Typesetter, _ specimen: TypesetText) -> [String] {
        guard !specimen.isBlank else { return [] }
        let text = specimen.text + specimen.text
        do throws(TypesettingError) {
            let repeated = TypesetText(text: text, outline: try typesetter.outline(of: text))
            guard repeated.outline.width > specimen.outline.width else {
                return ["\(specimen.name) must be wider if it is repeated, but is not."]
            }
            return repeated.violations
        } catch {
            return ["\(specimen.name) must be typeset if it is repeated, but failed: \(error)"]
        }
    }

    /// Equal texts have equal outlines, whatever was typeset before.
    private func repetitionViolations(_ typesetter: any Typesetter, _ specimens: [TypesetText]) -> [String] {
        (specimens + specimens.reversed()).flatMap { specimen in
            violations(of: typesetter, specimen).map { "Sequentially: \($0)" }
        }
    }

    /// Equal texts have equal outlines, whatever is typeset at the same time.
    private func concurrencyViolations(_ typesetter: any Typesetter, _ specimens: [TypesetText]) async -> [String] {
        guard let first = specimens.first else { return [] }
        // Another text, so that calls that share their text are found, and the first one twice.
        var others = Array(specimens.dropFirst().prefix(2))
        if others.isEmpty {
            let text = first.text + first.text
            // If this fails, another check has reported it.
            if let outline = try? typesetter.outline(of: text) { others = [TypesetText(text: text, outline: outline)] }
        }
        let callers = [first, first] + others
        let calls = callers.map { specimen -> @Sendable () -> [String] in
            return { self.violations(of: typesetter, specimen) }
        }
        return await CallOverlap.violations(of: calls)
    }

    /// Returns what is wrong with another call for a text.
    private func violations(of typesetter: any Typesetter, _ specimen: TypesetText) -> [String] {
        do throws(TypesettingError) {
            let outline = try typesetter.outline(of: specimen.text)
            return outline == specimen.outline
                ? [] : ["\(specimen.name) must have the same outline each time, but has another."]
        } catch {
            return ["\(specimen.name) must be typeset each time, but failed: \(error)"]
        }
    }

    /// An interrupted call returns its complete outline or fails as cancelled or timed out, whenever it is interrupted.
    private func cancellationViolations(_ typesetter: any Typesetter, _ specimen: TypesetText) async -> [String] {
        let call = InterruptibleCall(name: specimen.name, verb: "typeset") { () throws(TypesettingError) in
            try typesetter.outline(of: specimen.text)
        } isRight: {
            $0 == specimen.outline
        }
        return await call.violations(hasSteps: false, mustStop: false)
    }
}
