extension String {
    /// The text's lines, without what ends them.
    var lines: [String] {
        split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }.map(String.init)
    }

    /// The text without the white space around it.
    var trimmed: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }

    /// What stands between white space.
    var words: [String] { split(whereSeparator: \.isWhitespace).map(String.init) }

    /// The text without this mark and white space at its end.
    func trimmingSuffix(_ mark: Character) -> String {
        var text = self[...]
        while text.last == mark { text.removeLast() }
        return String(text).trimmed
    }
}
