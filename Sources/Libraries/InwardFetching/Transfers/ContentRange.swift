/// Which part of all there is a body is (RFC 9110 section 14.4).
enum ContentRange: Hashable {
    /// The bytes of these positions, of so many, if that is known.
    case part(ClosedRange<Int>, total: Int?)
    /// None, for there are only so many.
    case none(total: Int)

    /// Reads the value of the header field, such as `bytes 0-99/1000`; `nil` if it is none of bytes.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let total = Self.number(parts[1])
        if parts[0] == "*" {
            guard let total else { return nil }
            self = .none(total: total)
            return
        }
        let positions = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard positions.count == 2, let first = Self.number(positions[0]), let last = Self.number(positions[1]),
            first <= last, total != nil || parts[1] == "*", last < total ?? .max
        else { return nil }
        self = .part(first...last, total: total)
    }

    /// A number of digits alone.
    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
    }
}
