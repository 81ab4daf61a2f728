/// An entity tag (RFC 9110 section 8.8.3), which names a version of a representation.
///
/// A server sends it as `ETag`, and needs no body for a client that already has the version:
///
/// ```swift
/// func answer(_ body: [UInt8], digest: [UInt8], ifNoneMatch: [String]) -> DataResponse {
///     let tag = EntityTag(digest: digest)
///     var fields = HeaderFields()
///     fields[.etag] = tag.description
///     if tag.matches(ifNoneMatch: ifNoneMatch) { return DataResponse(status: .notModified, headerFields: fields) }
///     return DataResponse(status: .ok, headerFields: fields, body: Data(body))
/// }
/// ```
public struct EntityTag: Hashable, Sendable, LosslessStringConvertible {
    /// The tag with its quotation marks, without the mark of weak tags.
    public let opaqueTag: String
    /// Whether versions with the same tag may differ in ways that do not matter to users.
    public let isWeak: Bool

    /// Creates a strong tag from a digest of the representation, such as its SHA-256 hash or the beginning of it.
    ///
    /// The tag is the digest in hexadecimal digits. Representations in other encodings or formats need other tags.
    public init(digest: some Sequence<UInt8>) {
        let digits = digest.map { String(0x100 + UInt($0), radix: 16).dropFirst() }
        self.init(opaqueTag: "\"\(digits.joined())\"", isWeak: false)
    }

    /// Reads the value of a field, such as `"1b4f0e9851971998"` or `W/"7"`; `nil` if it is not one entity tag.
    public init?(_ description: String) {
        var rest = description.utf8[...]
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

    /// The value of the field `ETag`.
    public var description: String { isWeak ? "W/\(opaqueTag)" : opaqueTag }
}

extension EntityTag {
    /// Returns whether a client that sent `If-None-Match` already has this version, so that the answer to a read is 304
    /// (RFC 9110 section 13.1.2).
    ///
    /// - Parameter values: The values of the field; empty if the request does not have it.
    /// - Returns: Whether the list contains this tag, weakly compared, or is `*`.
    /// - Complexity: O(n) in the length of the values.
    public func matches(ifNoneMatch values: [String]) -> Bool { Self.list(values, contains: self) }

    /// Returns whether a client that sent `If-Match` wants to change this version. If not, the answer is 412 (RFC 9110
    /// section 13.1.1).
    ///
    /// - Parameter values: The values of the field; empty if the request does not have it, in which case any version may change.
    /// - Returns: Whether the change may be made.
    /// - Complexity: O(n) in the length of the values.
    public func matches(ifMatch values: [String]) -> Bool {
        values.isEmpty || Self.list(values, contains: self, comparedBy: { $0.isStronglyEqual(to: $1) })
    }
}

extension EntityTag {
    /// Returns whether a list of entity tags contains one that is equal, or is `*`.
    ///
    /// - Parameters:
    ///   - list: The values of the fields.
    ///   - tag: The tag; `nil` for a response without one, which only `*` matches.
    ///   - areEqual: Compares two tags, weakly by default.
    /// - Returns: Whether the list contains it.
    static func list(
        _ list: [String],
        contains tag: Self?,
        comparedBy areEqual: (Self, Self) -> Bool = { $0.isWeaklyEqual(to: $1) }
    ) -> Bool {
        for value in list {
            var rest = value.utf8[...]
            if rest.trimmed == "*" { return true }
            while !rest.isEmpty {
                rest = rest.drop { $0.isWhiteSpace || $0 == UInt8(ascii: ",") }
                if let listed = rest.takeEntityTag() {
                    if let tag, areEqual(listed, tag) { return true }
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
