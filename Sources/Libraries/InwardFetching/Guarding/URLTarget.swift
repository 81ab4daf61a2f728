#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The parts of a URL that decide where a request goes.
///
/// They are read from the text of the URL, not from the properties of `URL`, which decode percent escapes and skip ports that do
/// not fit into an integer.
struct URLTarget {
    /// The scheme; `nil` if it is neither `http` nor `https`.
    let scheme: AddressPolicy.Scheme?
    /// Whether there is a user name or a password, even an empty one.
    let hasUserInformation: Bool
    /// The port, by default that of the scheme; `nil` if it is not a number up to 65,535 in its shortest form, or if neither is known.
    let port: Int?
    private let text: String
    private let hostRange: Range<Int>

    init(_ url: URL) {
        self.init(url.absoluteString)
    }

    init(_ text: String) {
        self.text = text
        (scheme, hasUserInformation, hostRange, port) = text.withBytes { bytes in
            let colon = bytes.end(from: 0) { $0 != UInt8(ascii: ":") }
            // A URL without a colon has no scheme.
            let scheme = colon < bytes.count ? AddressPolicy.Scheme(bytes.extracting(0..<colon)) : nil
            let (authority, at) = bytes.authority(after: colon)
            let location = at.map { $0 + 1..<authority.upperBound } ?? authority
            let hostEnd = bytes.hostEnd(in: location)
            let port =
                hostEnd == location.upperBound
                ? scheme?.defaultPort : bytes.extracting(hostEnd + 1..<location.upperBound).port
            return (scheme, at != nil, location.lowerBound..<hostEnd, port)
        }
    }

    /// The host as written, in brackets if it is an IPv6 address; `nil` if the URL has no host.
    var hostText: String? { hostRange.isEmpty ? nil : text.withBytes { $0.extracting(hostRange).text } }

    /// Reads the host.
    func host() throws(AddressRefusal) -> WebHost {
        try text.withBytes { bytes throws(AddressRefusal) in try WebHost(bytes.extracting(hostRange)) }
    }
}

extension Span<UInt8> {
    /// Returns the authority, which follows two slashes, and the position of its last `@`; an empty range if the URL has no authority.
    fileprivate func authority(after colon: Int) -> (range: Range<Int>, at: Int?) {
        guard count >= colon + 3, self[colon + 1] == UInt8(ascii: "/"), self[colon + 2] == UInt8(ascii: "/") else {
            return (0..<0, nil)
        }
        var end = colon + 3
        var at: Int?
        // Only the first of these characters ends the authority. A backslash does not, and is refused as a part of it.
        while end < count, !self[end].endsAuthority {
            if self[end] == UInt8(ascii: "@") { at = end }
            end += 1
        }
        return (colon + 3..<end, at)
    }

    /// Returns where the host ends: before the colon of the port, which comes after the brackets of an IPv6 address.
    fileprivate func hostEnd(in location: Range<Int>) -> Int {
        guard !location.isEmpty else { return location.upperBound }
        let bytes = extracting(0..<location.upperBound)
        var start = location.lowerBound
        if bytes[start] == UInt8(ascii: "[") {
            let bracket = bytes.end(from: start) { $0 != UInt8(ascii: "]") }
            if bracket < bytes.count { start = bracket }
        }
        return bytes.end(from: start) { $0 != UInt8(ascii: ":") }
    }

    /// The number of a port; `nil` for leading zeros, signs, other text, and numbers that no port has.
    fileprivate var port: Int? {
        guard (1...5).contains(count), self[0] != UInt8(ascii: "0") || count == 1 else { return nil }
        var port = 0
        for index in indices {
            guard self[index].isDigit else { return nil }
            port = port * 10 + Int(self[index] - UInt8(ascii: "0"))
        }
        return port <= Int(UInt16.max) ? port : nil
    }
}

extension UInt8 {
    fileprivate var endsAuthority: Bool {
        self == UInt8(ascii: "/") || self == UInt8(ascii: "?") || self == UInt8(ascii: "#")
    }
}
