extension String {
    /// The beginning of this text on one line: white space between words becomes one space.
    func excerpt(upTo length: Int) -> String {
        let line = split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return line.count > length ? line.prefix(length - 1) + "…" : line
    }
}
