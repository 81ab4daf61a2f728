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
        host = url.host(percentEncoded: false)?.lowercased()
        port = url.port ?? ["http": 80, "https": 443][scheme ?? ""]
    }
}

extension WebOrigin: CustomStringConvertible {
    /// The origin as RFC 6454 section 6.2 writes it, such as `https://example.org:443`.
    package var description: String { "\(scheme ?? "")://\(host ?? "")\(port.map { ":\($0)" } ?? "")" }
}
