extension HeaderFields {
    /// Returns the target of the first link with a relation (RFC 8288 section 3), exactly as sent.
    ///
    /// ```swift
    /// let next = response.headerFields.target(ofLink: "next")  // "/orders?page=2"
    /// ```
    ///
    /// - Parameter relation: The relation type, such as `next`. Case makes no difference.
    /// - Returns: The target, a URL reference that may be relative; `nil` if no link has the relation.
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
        target = rest[..<close].trimmed
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
        guard let mark = rest.firstIndex(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }),
            rest[mark] == UInt8(ascii: ";")
        else { return nil }
        rest = rest[rest.index(after: mark)...]
        let name = text(from: &rest, until: "=", ";", ",").lowercased()
        guard rest.first == UInt8(ascii: "=") else { return (name, "") }
        rest = rest.dropFirst()
        // An unterminated string counts as a plain value.
        return (name, string(from: &rest) ?? text(from: &rest, until: ";", ",").filter { $0 != "\"" })
    }

    /// Removes a quoted string and the white space before it, and returns its content; `nil` if no string begins here, or its closing
    /// quotation mark is missing.
    private static func string(from rest: inout Substring.UTF8View) -> String? {
        let start = rest.drop(while: \.isWhiteSpace)
        guard start.first == UInt8(ascii: "\"") else { return nil }
        var string = QuotedString()
        let content = start.dropFirst()
        guard let end = content.firstIndex(where: { string.ends(with: $0) }) else { return nil }
        rest = content[content.index(after: end)...]
        return String(decoding: string.content, as: UTF8.self)
    }

    /// Removes the text before the first of some characters, and returns it without surrounding white space.
    private static func text(from rest: inout Substring.UTF8View, until ends: Unicode.Scalar...) -> String {
        let end = rest.firstIndex { ends.contains(Unicode.Scalar($0)) } ?? rest.endIndex
        defer { rest = rest[end...] }
        return rest[..<end].trimmed
    }
}
