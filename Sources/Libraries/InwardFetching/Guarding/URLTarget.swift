/// The parts of a URL that decide where a request goes.
///
/// They are read from the text of the URL, not from the properties of `URL`, which decode percent escapes and skip ports that do
/// not fit into an integer.
struct URLTarget {
    /// Whether there is a user name or a password, even an empty one.
    let hasUserInformation: Bool
    private let bytes: ArraySlice<UInt8>
    private let schemeEnd: Int
    private let hostRange: Range<Int>
    private let portRange: Range<Int>?

    init(_ text: String) {
        // Bytes, because a combining character after a delimiter would hide it from a search for characters.
        bytes = text.bytes
        schemeEnd = bytes.firstIndex(of: UInt8(ascii: ":")) ?? 0
        let rest = bytes[schemeEnd...]
        // Only the first of these characters ends the authority. A backslash does not, and is refused as a part of it.
        let authority = rest.starts(with: "://".utf8) ? rest.dropFirst(3).prefix { !$0.endsAuthority } : rest.prefix(0)
        let at = authority.lastIndex(of: UInt8(ascii: "@"))
        hasUserInformation = at != nil
        let location = at.map { authority[($0 + 1)...] } ?? authority
        let bracket =
            location.first == UInt8(ascii: "[") ? location.firstIndex(of: UInt8(ascii: "]")) : nil
        let separator = location[(bracket ?? location.startIndex)...].firstIndex(of: UInt8(ascii: ":"))
        hostRange = location.startIndex..<(separator ?? location.endIndex)
        portRange = separator.map { ($0 + 1)..<location.endIndex }
    }

    /// The scheme as written; empty if the URL has no scheme.
    var scheme: ArraySlice<UInt8> { bytes[..<schemeEnd] }
    /// The host as written, in brackets if it is an IPv6 address; empty if the URL has no host.
    var host: ArraySlice<UInt8> { bytes[hostRange] }
    /// The port as written, without the colon; `nil` if the URL has no port.
    var port: ArraySlice<UInt8>? { portRange.map { bytes[$0] } }
    /// The host as a text; `nil` if the URL has no host.
    var hostText: String? { hostRange.isEmpty ? nil : host.text }
}

extension UInt8 {
    fileprivate var endsAuthority: Bool {
        self == UInt8(ascii: "/") || self == UInt8(ascii: "?") || self == UInt8(ascii: "#")
    }
}
