/// An entity tag (RFC 9110 section 8.8.3), which names a version of a representation.
struct EntityTag: Hashable, Sendable {
    /// The tag with its quotation marks, without the mark of weak tags.
    let opaqueTag: String
    /// Whether versions with the same tag may differ in ways that do not matter to users.
    let isWeak: Bool

    /// Reads the value of a field; `nil` if it is not one entity tag.
    init?(_ text: String) {
        var rest = text.utf8[...]
        guard let tag = rest.takeEntityTag(), rest.isEmpty else { return nil }
        self = tag
    }

    fileprivate init(opaqueTag: String, isWeak: Bool) {
        self.opaqueTag = opaqueTag
        self.isWeak = isWeak
    }

    /// Returns whether the tags name the same version, byte by byte (RFC 9110 section 8.8.3.2).
    func isStronglyEqual(to other: Self) -> Bool { !isWeak && !other.isWeak && opaqueTag == other.opaqueTag }

    /// Returns whether the tags name versions that are equal for users.
    func isWeaklyEqual(to other: Self) -> Bool { opaqueTag == other.opaqueTag }
}

extension EntityTag {
    /// Returns whether a list of entity tags contains one that is weakly equal, or is `*` (RFC 9110 section 13.1.2).
    ///
    /// - Parameters:
    ///   - list: The values of the fields.
    ///   - tag: The tag; `nil` for a response without one, which only `*` matches.
    /// - Returns: Whether the list contains it.
    static func list(_ list: [String], contains tag: Self?) -> Bool {
        for value in list {
            var rest = value.utf8[...]
            if rest.trimmed == "*" { return true }
            while !rest.isEmpty {
                rest = rest.drop { $0.isWhiteSpace || $0 == UInt8(ascii: ",") }
                if let listed = rest.takeEntityTag() {
                    if let tag, listed.isWeaklyEqual(to: tag) { return true }
                } else {
                    rest = rest.drop { $0 != UInt8(ascii: ",") }
                }
            }
        }
        return false
    }
}

extension Substring.UTF8View {
    /// Reads an entity tag, which can contain commas; `nil` if there is none.
    fileprivate mutating func takeEntityTag() -> EntityTag? {
        let isWeak = starts(with: "W/".utf8)
        let tag = isWeak ? dropFirst(2) : self
        guard tag.first == UInt8(ascii: "\""), let end = tag.dropFirst().firstIndex(of: UInt8(ascii: "\"")),
            tag[..<end].allSatisfy({ $0 > 0x20 && $0 != 0x7F })
        else { return nil }
        self = self[index(after: end)...]
        return EntityTag(opaqueTag: String(Substring(tag[...end])), isWeak: isWeak)
    }
}
