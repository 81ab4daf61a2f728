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
    /// The scheme; `nil` for others than those of the web.
    let scheme: AddressPolicy.Scheme?
    /// Whether there is a user name or a password, even an empty one.
    let hasUserInformation: Bool
    /// The port, by default that of the scheme; `nil` for one with leading zeros, signs or other text.
    let port: Int?
    private let text: String
    private let hostRange: Range<Int>

    init(_ url: URL) {
        self.init(url.absoluteString)
    }

    init(_ text: String) {
        self.text = text
        (scheme, hasUserInformation, hostRange, port) = text.withBytes { bytes in
            let colon = bytes.indices.first { bytes[$0] == UInt8(ascii: ":") } ?? 0
            let scheme = AddressPolicy.Scheme(bytes.extracting(0..<colon))
            let authority = bytes.authority(after: colon)
            let at = authority.last { bytes[$0] == UInt8(ascii: "@") }
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
    /// Returns the authority, which begins with two slashes; an empty range if there is none.
    fileprivate func authority(after colon: Int) -> Range<Int> {
        guard count >= colon + 3, self[colon] == UInt8(ascii: ":"), self[colon + 1] == UInt8(ascii: "/"),
            self[colon + 2] == UInt8(ascii: "/")
        else { return 0..<0 }
        // Only the first of these characters ends the authority. A backslash does not, and is refused as a part of it.
        return colon + 3..<end(from: colon + 3) { !$0.endsAuthority }
    }

    /// Returns where the host ends: before the colon of the port, which comes after the brackets of an IPv6 address.
    fileprivate func hostEnd(in location: Range<Int>) -> Int {
        let hasBracket = !location.isEmpty && self[location.lowerBound] == UInt8(ascii: "[")
        let bracket = hasBracket ? location.first { self[$0] == UInt8(ascii: "]") } : nil
        let rest = (bracket ?? location.lowerBound)..<location.upperBound
        return rest.first { self[$0] == UInt8(ascii: ":") } ?? location.upperBound
    }

    /// The number of a port; `nil` for leading zeros, signs and other text.
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
