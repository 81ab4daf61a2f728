extension String {
    /// The text with invisible characters escaped, for logs and terminals.
    ///
    /// ```swift
    /// print("line\u{1B}[31m\n".visible)  // line\u{1B}[31m\n
    /// ```
    ///
    /// Line feeds, carriage returns and tabs appear as `\n`, `\r` and `\t`. Other control characters, bidirectional controls,
    /// line separators, and characters with no visible form, such as zero-width spaces and tags, appear as a code such as
    /// `\u{1B}`. Terminal escape sequences therefore have no effect. A joiner or variation selector is kept where it is part of
    /// an emoji, or of a word in a script that needs it.
    public var visible: String {
        guard unicodeScalars.contains(where: \.isHidden) else { return self }
        var text = ""
        var previous: Unicode.Scalar?
        var rest = unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.isHidden && !scalar.isSeen(after: previous, before: rest.first):
                text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
                // An escaped scalar joins nothing.
                previous = nil
                continue
            default: text.unicodeScalars.append(scalar)
            }
            previous = scalar
        }
        return text
    }
}

extension String {
    /// Returns the beginning of the text on one line. White space between words is collapsed to one space, and an
    /// ellipsis replaces text that does not fit.
    ///
    /// - Complexity: O(n) in `length` and the white space before that point.
    package func excerpt(upTo length: Int) -> String {
        var line: [Character] = []
        var spaceIsDue = false
        for character in boundedByScalars(to: length) {
            if character.isWhitespace {
                spaceIsDue = !line.isEmpty
            } else {
                if spaceIsDue { line.append(" ") }
                spaceIsDue = false
                line.append(character)
                if line.count > length { return String(line.prefix(length - 1)) + "…" }
            }
        }
        return String(line)
    }

    /// The first 500 characters on one line, for storing the text as the cause of a failure. A cause may quote a response of
    /// the upstream, which can have any length.
    package var causeExcerpt: String { excerpt(upTo: 500) }

    /// Returns the beginning of the text, at most 16 × `characters` Unicode scalars.
    ///
    /// Scalars are counted because a single character can contain any number of combining scalars.
    package func boundedByScalars(to characters: Int) -> Substring {
        let scalars = characters * 16
        guard utf8.count > scalars else { return self[...] }
        return Substring(unicodeScalars.prefix(scalars))
    }
}

extension Unicode.Scalar {
    /// Whether the scalar has no visible form, or controls the display instead of being shown.
    ///
    /// This includes control characters, line separators, the bidirectional controls of Unicode Standard Annex #9, and
    /// all default-ignorable scalars (soft hyphens, joiners, fillers, variation selectors, tags).
    package var isHidden: Bool {
        // Avoids the Unicode tables for ASCII, which is most text.
        if isASCII { return value < 0x20 || value == 0x7F }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        default:
            // Annotation anchors are not default-ignorable in Unicode, but they have no visible form.
            return properties.isBidiControl || properties.isDefaultIgnorableCodePoint
                || (0xFFF9...0xFFFB).contains(value)
        }
    }

    /// Whether this hidden scalar visibly affects its neighbors and must be kept: the joiners and selectors of emoji,
    /// and those that Persian and Indic scripts need (RFC 5892, appendices A.1 and A.2).
    func isSeen(after previous: Unicode.Scalar?, before next: Unicode.Scalar?) -> Bool {
        guard let previous else { return false }
        switch value {
        case 0xFE0E, 0xFE0F:
            // After a digit, only in a keycap sequence, such as 1️⃣.
            return previous.properties.isEmoji && (!previous.isASCII || next?.value == 0x20E3)
        case 0x200D:
            if previous.properties.canonicalCombiningClass == .virama { return true }
            let joins = previous.isPartOfEmoji || previous.value == 0xFE0F
            return joins && next?.isPartOfEmoji ?? false
        case 0x200C:
            if previous.properties.canonicalCombiningClass == .virama { return true }
            return previous.isArabicLetter && next?.isArabicLetter ?? false
        default:
            return false
        }
    }

    private var isPartOfEmoji: Bool { !isASCII && properties.isEmoji }

    private var isArabicLetter: Bool {
        (0x0600...0x06FF).contains(value) && properties.generalCategory == .otherLetter
    }
}
