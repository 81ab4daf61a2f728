/// What goes on over several lines of a diagram and means nothing to the contract: front matter, a directive, a
/// description.
struct DiagramPassage {
    /// What ends the passage that is open; `nil` if none is.
    private(set) var end: String?

    /// Whether the next line, without the white space around it, belongs to a passage.
    ///
    /// - Parameters:
    ///   - line: the line.
    ///   - isAtTop: whether nothing stands above it, where `---` opens front matter.
    /// - Returns: whether it begins one, ends one, or stands in one.
    mutating func takes(_ line: String, isAtTop: Bool) -> Bool {
        if let end {
            if line.hasSuffix(end) { self.end = nil }
            return true
        }
        if line == "---", isAtTop {
            end = "---"
        } else if line.hasPrefix("%%{"), !line.hasSuffix("}%%") {
            end = "}%%"
        } else if line.hasPrefix("accDescr"), !line.hasPrefix("accDescr:"), line.hasSuffix("{") {
            end = "}"
        }
        return end != nil
    }
}
