import InwardCore

/// A line of text that can be drawn: without line breaks, and without characters that are invisible or that reorder others.
///
/// ```swift
/// let line = try TextLine("안녕하세요")
/// print(line.text.count)  // 5
///
/// func isAllowed(_ text: String) -> Bool { (try? TextLine(text)) != nil }
/// print(isAllowed("two\nlines"))  // false
/// ```
///
/// Characters of all scripts are allowed, and so is text from right to left. Control characters are not, and neither are
/// characters that only format others (general category Cf), such as bidirectional overrides. The exceptions are the zero width
/// joiner and non-joiner, which some scripts need. A line never contains markup: `<b>` is three characters.
public struct TextLine: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length, 256 characters.
    public static let maximumLength = 256
    /// The maximum number of bytes in UTF-8, 1,024.
    public static let maximumByteCount = 1_024

    /// The text.
    public let text: String

    /// Creates a line of text.
    ///
    /// - Throws: A ``TypesettingError`` with the reason `invalidText` if the text is empty or too long, or if it has a character
    ///   that is not allowed.
    public init(_ text: String) throws(TypesettingError) {
        // Counted in bytes first, because a single character can have any number of them.
        guard !text.isEmpty, text.utf8.count <= Self.maximumByteCount, text.count <= Self.maximumLength else {
            throw TypesettingError(
                .invalidText,
                "must have 1 to \(Self.maximumLength) characters, in at most \(Self.maximumByteCount) bytes"
            )
        }
        if let scalar = text.unicodeScalars.first(where: { !$0.isAllowedInLines }) {
            throw TypesettingError(
                .invalidText,
                "has the character '\(String(Character(scalar)).visible)', which has no form of its own; remove it"
            )
        }
        self.text = text
    }

    /// The text.
    public var description: String { text }

    /// Compares the bytes of the texts. A composed `é` differs from one that is decomposed, although they look the same.
    public static func == (first: TextLine, second: TextLine) -> Bool {
        first.text.utf8.elementsEqual(second.text.utf8)
    }

    /// Hashes the bytes of the text.
    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

extension Unicode.Scalar {
    fileprivate var isAllowedInLines: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
        case .format: value == 0x200C || value == 0x200D
        default: true
        }
    }
}
