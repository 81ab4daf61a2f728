/// The parts of a URL that decide where a request goes.
///
/// They are read from the text of the URL, not from the properties of `URL`, which decode percent escapes and skip ports that do
/// not fit into an integer.
struct URLTarget {
    /// The scheme as written; empty if the URL has no scheme.
    let scheme: Substring
    /// The host as written, in brackets if it is an IPv6 address; empty if the URL has no host.
    let host: Substring
    /// The port as written, without the colon; `nil` if the URL has no port.
    let port: Substring?
    /// Whether there is a user name or a password, even an empty one.
    let hasUserInformation: Bool

    init(_ text: String) {
        // Bytes, because a combining character after a delimiter would hide it from a search for characters.
        let bytes = text.utf8
        let colon = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.startIndex
        scheme = text[..<colon]
        let rest = bytes[colon...]
        // Only the first of these characters ends the authority. A backslash does not, and is refused as a part of it.
        let authority = rest.starts(with: "://".utf8) ? rest.dropFirst(3).prefix { !$0.endsAuthority } : rest.prefix(0)
        let at = authority.lastIndex(of: UInt8(ascii: "@"))
        hasUserInformation = at != nil
        let location = at.map { authority[authority.index(after: $0)...] } ?? authority
        let bracket =
            location.first == UInt8(ascii: "[") ? location.firstIndex(of: UInt8(ascii: "]")) : nil
        let separator = location[(bracket ?? location.startIndex)...].firstIndex(of: UInt8(ascii: ":"))
        host = Substring(location[..<(separator ?? location.endIndex)])
        port = separator.map { Substring(location[location.index(after: $0)...]) }
    }
}

extension UInt8 {
    fileprivate var endsAuthority: Bool {
        self == UInt8(ascii: "/") || self == UInt8(ascii: "?") || self == UInt8(ascii: "#")
    }
}
