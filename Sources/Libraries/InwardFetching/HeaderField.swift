/// One header field: a name and a value.
///
/// The value of a sensitive field shows in no description or reflection, and is not sent on to another origin.
public struct HeaderField: Hashable, Sendable {
    /// What the field says something about.
    public let name: Name
    /// What it says.
    public let value: String
    /// Whether the value is a credential or as good as one.
    public let isSensitive: Bool

    /// Makes a field.
    ///
    /// A carriage return, line feed or NUL in the value, which could end the field and begin another, becomes a space, and
    /// white space at the ends is dropped (RFC 9110 section 5.5).
    ///
    /// - Parameters:
    ///   - name: What the field says something about.
    ///   - value: What it says.
    ///   - isSensitive: Whether the value is a credential; by default, if the name is known to carry one.
    public init(_ name: Name, _ value: String, isSensitive: Bool? = nil) {
        self.name = name
        self.value = Self.sanitized(value)
        self.isSensitive = isSensitive ?? name.carriesCredentials
    }

    private static func sanitized(_ value: String) -> String {
        let isClean = !value.utf8.contains { $0 == 0x00 || $0 == 0x0A || $0 == 0x0D }
        // Most are clean, and stay what they are.
        if isClean, !(value.utf8.first.map(isWhiteSpace) ?? false), !(value.utf8.last.map(isWhiteSpace) ?? false) {
            return value
        }
        var bytes = value.utf8.map { byte in [0x00, 0x0A, 0x0D].contains(byte) ? 0x20 : byte }[...]
        while let first = bytes.first, isWhiteSpace(first) { bytes.removeFirst() }
        while let last = bytes.last, isWhiteSpace(last) { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

extension HeaderField: CustomStringConvertible, CustomReflectable {
    /// The field as it is sent, but for a sensitive value.
    public var description: String { "\(name): \(isSensitive ? "…" : value)" }

    /// A mirror that shows no more than the description does.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
