extension String {
    /// This text with every character written out that its reader would not see.
    ///
    /// Control characters, and so escape sequences, the marks that reverse the direction of text or break lines, and what is shown
    /// as nothing, such as zero-width spaces and tags, appear as `\u{1B}`, or `\n`, `\r` and `\t` for these three. A joiner or
    /// selector stays as it is where it is part of an emoji, or of a word in a script that needs it.
    package var visible: String {
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
                // What is written out joins nothing.
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
    /// The beginning of this text on one line: white space between words becomes one space, and an ellipsis takes the place
    /// of what does not fit.
    ///
    /// - Complexity: O(n) in `length` and the white space up to there.
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

    /// As much of this text as so many characters may take that carry a usual number of marks each. A single character can
    /// carry any number of them.
    package func boundedByScalars(to characters: Int) -> Substring {
        let scalars = characters * 16
        guard utf8.count > scalars else { return self[...] }
        return Substring(unicodeScalars.prefix(scalars))
    }
}

extension Unicode.Scalar {
    /// Whether a reader does not see this scalar: it acts on a screen instead of being shown there, or is shown as nothing.
    ///
    /// So it is for control characters, separators of lines, the marks for the direction of text that Unicode Standard Annex 9
    /// defines, and all that is ignored where a text is shown (soft hyphens, joiners, fillers, variation selectors, tags).
    package var isHidden: Bool {
        // The tables of Unicode are asked for no more than they must: nearly all of a text is here.
        if isASCII { return value < 0x20 || value == 0x7F }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        default:
            // Unicode does not call the anchors of annotations ignorable, and nothing shows them.
            return properties.isBidiControl || properties.isDefaultIgnorableCodePoint
                || (0xFFF9...0xFFFB).contains(value)
        }
    }

    /// Whether this hidden scalar makes a difference that is seen between its neighbours, and so stays as it is: the joiners and
    /// selectors of emoji, and those that Persian and the scripts of India need (RFC 5892 appendices A.1 and A.2).
    func isSeen(after previous: Unicode.Scalar?, before next: Unicode.Scalar?) -> Bool {
        guard let previous else { return false }
        switch value {
        case 0xFE0E, 0xFE0F:
            // Of a digit only where a key follows, as in 1️⃣.
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
