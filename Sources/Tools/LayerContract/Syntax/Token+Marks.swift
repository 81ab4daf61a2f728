extension Token {
    /// Every byte as the text of a mark, so that no text is made for each of them.
    static let marks: [String] = (0...UInt8.max).map { String(UnicodeScalar($0)) }
}
