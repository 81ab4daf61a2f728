#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A policy for the URLs and addresses that requests may go to, which protects internal services against server-side request
/// forgery.
///
/// Use it for URLs that come from users or other services:
///
/// ```swift
/// let policy = try AddressPolicy(schemes: [.https], hosts: ["images.example.org", ".cdn.example.org"])
/// do {
///     try policy.check(url)
/// } catch {
///     print("\(error.rule): \(error)")
/// }
/// ```
///
/// A URL says nothing about the addresses that its host resolves to. Check each address as well, immediately before connecting to
/// it, and check the URL of each redirect.
public struct AddressPolicy: Hashable, Sendable {
    /// The schemes that a policy can allow.
    ///
    /// ```swift
    /// let encrypted = try AddressPolicy(schemes: [.https])
    /// ```
    public enum Scheme: String, Hashable, Sendable {
        /// Plain HTTP.
        case http
        /// HTTP over TLS.
        case https

        /// Reads a scheme in either case.
        fileprivate init?(_ text: Substring) {
            // A scheme of another length is not allowed, however long it is.
            guard text.utf8.count <= 5 else { return nil }
            self.init(rawValue: text.lowercased())
        }

        fileprivate var defaultPort: Int {
            switch self {
            case .http: 80
            case .https: 443
            }
        }
    }

    /// The policy that allows every host on the public internet, with `https` and `http` at ports 443 and 80.
    public static let publicInternet = Self()

    /// The allowed schemes.
    public private(set) var schemes: Set<Scheme> = [.https, .http]
    /// The allowed ports.
    public private(set) var ports: Set<Int> = [443, 80]
    /// The blocks of addresses that are allowed although they are not on the public internet.
    public private(set) var allowedBlocks: [IPAddressBlock] = []
    /// The allowed hosts; `nil` for all on the public internet.
    private var hosts: AllowedHosts?

    private init() {}

    /// Creates a policy.
    ///
    /// ```swift
    /// let testPolicy = try AddressPolicy(
    ///     ports: [8080],
    ///     hosts: ["127.0.0.1", "orders.internal"],
    ///     allowing: [.ipv4Loopback]
    /// )
    /// ```
    ///
    /// - Parameters:
    ///   - schemes: The allowed schemes.
    ///   - ports: The allowed ports. URLs without a port use that of their scheme.
    ///   - hosts: The allowed hosts; `nil` for all on the public internet. `example.org` allows this name only, and
    ///     `.example.org` allows its subdomains only. Addresses are written as in a URL, and IPv6 addresses in brackets. The hosts
    ///     may include names without dots and names of local networks, such as `.internal`.
    ///   - blocks: Blocks of addresses to allow although they are not on the public internet. A block lifts only rules for
    ///     ranges that are at least as large: `169.254.0.0/16` does not allow the metadata service at `169.254.169.254`, and
    ///     `0.0.0.0/0` allows nothing. Addresses that embed an IPv4 address also require that the IPv4 address is allowed.
    /// - Throws: An ``AddressPolicyError`` that names the first invalid host.
    public init(
        schemes: Set<Scheme> = publicInternet.schemes,
        ports: Set<Int> = publicInternet.ports,
        hosts: Set<String>? = nil,
        allowing blocks: [IPAddressBlock] = []
    ) throws(AddressPolicyError) {
        self.schemes = schemes
        self.ports = ports
        if let hosts { self.hosts = try AllowedHosts(hosts) }
        allowedBlocks = blocks
    }

    /// Checks the scheme, user information, host and port of a URL, and the address if the host is one.
    ///
    /// ```swift
    /// try AddressPolicy.publicInternet.check(url)
    /// ```
    ///
    /// Unusual spellings of a host are refused rather than interpreted.
    ///
    /// - Parameter url: The URL.
    /// - Throws: An ``AddressRefusal`` that names the rule.
    public func check(_ url: URL) throws(AddressRefusal) {
        let target = URLTarget(url.absoluteString)
        if let rule = try rule(refusing: target) {
            throw AddressRefusal(rule, host: target.host.isEmpty ? nil : String(target.host))
        }
    }

    private func rule(refusing target: URLTarget) throws(AddressRefusal) -> AddressRefusal.Rule? {
        guard let scheme = Scheme(target.scheme), schemes.contains(scheme) else { return .scheme }
        if target.hasUserInformation { return .userInformation }
        switch try WebHost(target.host) {
        case .address(let address):
            if hosts?.contains(address) == false { return .hostNotAllowed }
            if let rule = SpecialAddressRange.rule(refusing: address, allowing: allowedBlocks) { return rule }
        case .name(let name):
            if let rule = rule(refusing: name) { return rule }
        }
        return allows(target.port, of: scheme) ? nil : .port
    }

    /// Checks an address that a host resolved to.
    ///
    /// ```swift
    /// if let address = IPAddress("10.0.0.1") {
    ///     try AddressPolicy.publicInternet.check(address, of: "shop.example.org")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - host: The host as the requester wrote it, for the error.
    /// - Throws: An ``AddressRefusal`` that names the rule.
    public func check(_ address: IPAddress, of host: String? = nil) throws(AddressRefusal) {
        if let rule = SpecialAddressRange.rule(refusing: address, allowing: allowedBlocks) {
            throw AddressRefusal(rule, host: host)
        }
    }

    private func rule(refusing name: String) -> AddressRefusal.Rule? {
        let entry = hosts?.entry(allowing: name)
        if hosts != nil, entry == nil { return .hostNotAllowed }
        // Special names are allowed only by entries for them.
        if WebHost.isSpecialUse(name) { return entry.map(WebHost.isSpecialUse) == true ? nil : .specialUseName }
        return entry == nil && !name.contains(".") ? .singleLabelName : nil
    }

    private func allows(_ port: Substring?, of scheme: Scheme) -> Bool {
        guard let port else { return ports.contains(scheme.defaultPort) }
        // Leading zeros and signs are not canonical.
        return UInt16(port).map { String($0) == port && ports.contains(Int($0)) } ?? false
    }
}
