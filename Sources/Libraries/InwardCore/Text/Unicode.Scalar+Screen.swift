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
