extension HeaderFields {
    /// Returns the target of the first link with a relation (RFC 8288 section 3), exactly as sent.
    ///
    ///     let next = response.headerFields.target(ofLink: "next")
    ///
    /// - Parameter relation: The relation type, such as `next`. Case makes no difference.
    /// - Returns: the target, a URL reference that may be relative; `nil` if no link has the relation.
    /// - Complexity: O(n) in the length of the `Link` fields.
    public func target(ofLink relation: String) -> String? {
        for value in values(of: .link) {
            var rest = value.utf8[...]
            while let link = Link(from: &rest) {
                if link.relations.contains(relation.lowercased()) { return link.target }
            }
        }
        return nil
    }
}

/// A link in a `Link` header field: `<https://example.org/posts?page=2>; rel="next"`.
private struct Link {
    let target: String
    /// The relation types, in lower case.
    private(set) var relations: [String] = []

    /// Parses the next link and removes it from the input; `nil` if no link follows.
    init?(from rest: inout Substring.UTF8View) {
        guard let open = rest.firstIndex(of: UInt8(ascii: "<")) else { return nil }
        rest = rest[rest.index(after: open)...]
        guard let close = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }
        target = String(decoding: rest[..<close], as: UTF8.self).trimmed
        rest = rest[rest.index(after: close)...]
        var isRelationKnown = false
        while let parameter = Self.parameter(from: &rest) {
            // The first relation parameter counts (RFC 8288 section 3.3).
            guard parameter.name == "rel", !isRelationKnown else { continue }
            isRelationKnown = true
            relations = parameter.value.lowercased().split(separator: " ").map(String.init)
        }
    }

    /// Parses the next parameter of a link and removes it from the input; `nil` at the end of the link.
    private static func parameter(from rest: inout Substring.UTF8View) -> (name: String, value: String)? {
        rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard rest.first == UInt8(ascii: ";") else { return nil }
        rest = rest.dropFirst()
        let name = text(from: &rest) { [UInt8(ascii: "="), UInt8(ascii: ";"), UInt8(ascii: ",")].contains($0) }
        guard rest.first == UInt8(ascii: "=") else { return (name.lowercased(), "") }
        rest = rest.dropFirst()
        rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard rest.first == UInt8(ascii: "\"") else {
            return (name.lowercased(), text(from: &rest) { [UInt8(ascii: ";"), UInt8(ascii: ",")].contains($0) })
        }
        rest = rest.dropFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() {
                value.append(escaped)
            } else {
                value.append(byte)
            }
        }
        return (name.lowercased(), String(decoding: value, as: UTF8.self))
    }

    /// Removes the text before the first byte that satisfies a condition, and returns it without surrounding white space.
    private static func text(from rest: inout Substring.UTF8View, until ends: (UInt8) -> Bool) -> String {
        let end = rest.firstIndex(where: ends) ?? rest.endIndex
        defer { rest = rest[end...] }
        return String(decoding: rest[..<end], as: UTF8.self).trimmed
    }
}

extension String {
    /// The text without surrounding white space.
    fileprivate var trimmed: String {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        return String(drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}
