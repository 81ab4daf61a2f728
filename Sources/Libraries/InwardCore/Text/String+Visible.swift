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
