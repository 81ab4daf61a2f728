extension String {
    /// This text with every character that acts on its reader's screen, rather than being seen there, written out.
    ///
    /// Control characters, and so escape sequences, and the marks that reverse the direction of text or break lines appear
    /// as `\u{1B}`, or `\n`, `\r` and `\t` for these three.
    package var visible: String {
        guard unicodeScalars.contains(where: \.actsOnTheScreen) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.actsOnTheScreen: text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
