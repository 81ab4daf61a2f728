import InwardCore

extension String {
    /// How many columns of a terminal this text takes, which must be visible.
    ///
    /// - Complexity: O(n) in the length of the text.
    var displayWidth: Int {
        utf8.allSatisfy { $0 < 0x80 } ? utf8.count : reduce(0) { $0 + $1.displayWidth }
    }

    /// This text, or as much of its beginning as fits into so many columns together with an ellipsis.
    func truncated(toWidth width: Int) -> String {
        let bounded = boundedByScalars(to: width)
        guard bounded.endIndex < endIndex || displayWidth > width else { return self }
        var room = width - 1
        let beginning = bounded.prefix { character in
            room -= character.displayWidth
            return room >= 0
        }
        return beginning + "…"
    }

    /// This text with spaces, behind it or before it, that make it fill so many columns.
    func padded(toWidth width: Int, leading: Bool) -> String {
        let spaces = String(repeating: " ", count: max(0, width - displayWidth))
        return leading ? spaces + self : self + spaces
    }
}

extension Character {
    /// Two columns for what Unicode Standard Annex 11 calls wide or full-width and for emoji, otherwise one; what joins the
    /// character before it, such as an accent, takes none.
    fileprivate var displayWidth: Int {
        guard !isASCII, let first = unicodeScalars.first else { return 1 }
        if first.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}") { return 2 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return Self.wideRanges.contains { $0.contains(first.value) } ? 2 : 1
        }
    }

    private static let wideRanges: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
        0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD,
    ]
}
