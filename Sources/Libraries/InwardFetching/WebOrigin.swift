#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Who answers for an address: scheme, host and port (RFC 6454). Credentials for one are not for another.
package struct WebOrigin: Hashable, Sendable {
    private let scheme: String?
    private let host: String?
    private let port: Int?

    /// The origin of an address, with the port that its scheme implies.
    package init(_ url: URL) {
        scheme = url.scheme?.lowercased()
        // A host whose escapes are not UTF-8 cannot be decoded. It keeps them, so that two such hosts differ.
        host = (url.host(percentEncoded: false) ?? url.host()).map(Self.folded)
        port = url.port ?? ["http": 80, "https": 443][scheme ?? ""]
    }

    /// A host in lower case, as far as names of hosts have cases: those of ASCII. The sign of the Kelvin is not the letter k.
    private static func folded(_ host: String) -> String {
        let letters = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return String(decoding: host.utf8.map { letters.contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// Whether anybody on the way to this origin can read what is sent there: it is asked by plain http, and is not this machine.
    package var isExposed: Bool { scheme == "http" && !isLoopback }

    /// Whether this is the machine itself (RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3, RFC 6761 section 6.3). Any other name,
    /// which has to be looked up, is not.
    private var isLoopback: Bool {
        guard let host else { return false }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count == 4, parts[0] == "127" {
            // Only as it is usually written. Programs disagree about other forms of a number.
            return parts.allSatisfy { part in UInt8(part).map { String($0) == part } ?? false }
        }
        return ["localhost", "::1", "[::1]"].contains(host)
    }
}

extension WebOrigin: CustomStringConvertible {
    /// The origin as RFC 6454 section 6.2 writes it, such as `https://example.org:443`.
    package var description: String { "\(scheme ?? "")://\(host ?? "")\(port.map { ":\($0)" } ?? "")" }
}
