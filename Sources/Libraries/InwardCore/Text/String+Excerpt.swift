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
