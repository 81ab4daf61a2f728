import InwardCore

/// A port that turns a line of text into outlines, in any script that it has a font for.
///
/// ```swift
/// func makeWatermark(_ typesetter: any Typesetter) throws -> Watermark {
///     Watermark(.outline(try typesetter.outline(of: "안녕하세요"), .white))
/// }
/// ```
///
/// `PangoTypesetter` of `InwardVips` is an implementation with the fonts of the machine. An implementation must order and join
/// the characters as their scripts require, interpret no markup, and draw nothing in place of a character that no font has: it
/// throws an error that names the character. It must accept concurrent calls, and check ``TypesettingError/checkCancellation()``
/// between steps.
///
/// Test an implementation with `TypesetterConformance` of the product `InwardTesting`.
public protocol Typesetter: Sendable {
    /// Returns the outlines of a line of text.
    ///
    /// - Throws: A ``TypesettingError`` if no font has a character, if the fonts are unavailable, or if the task is cancelled.
    func outline(of line: TextLine) throws(TypesettingError) -> TextOutline
}

extension Typesetter {
    /// Returns the outlines of a text from outside, after checking that it is a line of text.
    ///
    /// - Throws: A ``TypesettingError`` if the text is not a line of text, if no font has a character, if the fonts are
    ///   unavailable, or if the task is cancelled.
    public func outline(of text: String) throws(TypesettingError) -> TextOutline { try outline(of: TextLine(text)) }
}

/// An error thrown when a text cannot be typeset.
///
/// ```swift
/// func check(_ text: String, _ typesetter: any Typesetter) {
///     do throws(TypesettingError) {
///         _ = try typesetter.outline(of: text)
///     } catch {
///         print(error)  // The text cannot be drawn: no installed font has '𐎀'. Install a font for it, or change the text.
///         print(error.missingCharacters)  // ["𐎀"]
///     }
/// }
/// ```
public struct TypesettingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Reason: Hashable, Sendable {
        /// No font has these characters.
        case missingCharacters([Character])
        /// The text is empty, too long, or has a character that is not allowed.
        case invalidText
        /// The fonts are unavailable.
        case unavailable
        /// The task was cancelled.
        case cancelled
        /// The task's deadline passed.
        case timedOut
    }

    /// The kind of failure.
    public let reason: Reason
    /// What happened. It completes a sentence that begins with "The text", such as "has 300 characters".
    public let explanation: String

    /// Creates an error with a kind and an explanation.
    public init(_ reason: Reason, _ explanation: String) {
        self.reason = reason
        self.explanation = explanation
    }

    /// The characters that no font has. Empty for other errors.
    public var missingCharacters: [Character] {
        if case .missingCharacters(let characters) = reason { characters } else { [] }
    }

    /// The failure as a sentence.
    public var description: String { "The text \(explanation)." }
}

extension TypesettingError {
    /// The task was cancelled.
    public static let cancelled = TypesettingError(.cancelled, "was not typeset: the task was cancelled")

    /// The task's deadline passed.
    public static let timedOut = TypesettingError(.timedOut, "was not typeset before the deadline")

    /// Returns the error for characters that no installed font has.
    public static func missing(_ characters: [Character]) -> TypesettingError {
        TypesettingError(
            .missingCharacters(characters),
            "cannot be drawn: no installed font has \(characters.namedForErrors). Install a font for it, or change the text"
        )
    }

    /// Throws if the task is cancelled or its deadline has passed. Call it in a typesetter between steps.
    ///
    /// - Throws: ``cancelled`` or ``timedOut``.
    public static func checkCancellation() throws(TypesettingError) {
        guard !Task.isCancelled else { throw .cancelled }
        if let deadline = Deadline.current, deadline.hasPassed { throw .timedOut }
    }
}

extension [Character] {
    /// The first characters in quotation marks, with escapes for those that are invisible, and the number of the others.
    package var namedForErrors: String {
        let names = prefix(8).map { "'\(String($0).visible.excerpt(upTo: 12))'" }.joined(separator: ", ")
        return count > 8 ? "\(names) and \(count - 8) more" : names
    }
}
