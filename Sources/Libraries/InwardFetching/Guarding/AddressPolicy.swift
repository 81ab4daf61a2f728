import InwardCore

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
/// ``DataFetcher/guarding(with:)`` applies a policy to all requests of a fetcher. If you check URLs yourself, note that a URL says
/// nothing about the addresses that its host resolves to: check each address as well, immediately before connecting to it, and
/// check the URL of each redirect.
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
        init?(_ text: Span<UInt8>) {
            if text.spells(Self.httpsSpelling) {
                self = .https
            } else if text.spells(Self.httpSpelling) {
                self = .http
            } else {
                return nil
            }
        }

        private static let httpsSpelling = Array(https.rawValue.utf8)
        private static let httpSpelling = Array(http.rawValue.utf8)

        var defaultPort: Int {
            switch self {
            case .http: 80
            case .https: 443
            }
        }

        /// Hashes the scheme. By default, the whole text would be hashed.
        public func hash(into hasher: inout Hasher) { hasher.combine(defaultPort) }
    }

    /// The policy that allows every host on the public internet, with `https` and `http` at ports 443 and 80.
    public static let publicInternet = Self(Rules())

    /// What a policy allows.
    private struct Rules: Hashable {
        var schemes: Set<Scheme> = [.https, .http]
        var ports: Set<Int> = [443, 80]
        /// The blocks of addresses that are allowed although they are not on the public internet.
        var blocks: [IPAddressBlock] = []
        /// The allowed hosts; `nil` for all on the public internet.
        var hosts: AllowedHosts?
        /// The origins that are allowed whatever their hosts resolve to.
        var trustedOrigins: Set<TrustedOrigin> = []
    }

    /// Rules in memory of their own. A check takes less time than a copy of them would.
    private final class Box: Hashable, Sendable {
        let rules: Rules

        init(_ rules: Rules) {
            self.rules = rules
        }

        static func == (left: Box, right: Box) -> Bool { left.rules == right.rules }

        func hash(into hasher: inout Hasher) { hasher.combine(rules) }
    }

    private let box: Box

    private init(_ rules: Rules) {
        box = Box(rules)
    }

    /// The allowed schemes.
    public var schemes: Set<Scheme> { box.rules.schemes }
    /// The allowed ports.
    public var ports: Set<Int> { box.rules.ports }
    /// The blocks of addresses that are allowed although they are not on the public internet.
    public var allowedBlocks: [IPAddressBlock] { box.rules.blocks }

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
        var rules = Rules(schemes: schemes, ports: ports, blocks: blocks)
        if let hosts { rules.hosts = try AllowedHosts(hosts) }
        self.init(rules)
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
        try check(URLTarget(url))
    }

    func check(_ target: URLTarget) throws(AddressRefusal) {
        if let rule = try rule(refusing: target) { throw AddressRefusal(rule, host: target.hostText) }
    }

    private func rule(refusing target: URLTarget) throws(AddressRefusal) -> AddressRefusal.Rule? {
        if !target.hasUserInformation, trusts(target) { return nil }
        guard let scheme = target.scheme, schemes.contains(scheme) else { return .scheme }
        if target.hasUserInformation { return .userInformation }
        switch try target.host() {
        case .address(let address):
            if box.rules.hosts?.contains(address) == false { return .hostNotAllowed }
            if let rule = SpecialAddressRange.rule(refusing: address, allowing: box.rules.blocks) { return rule }
        case .name(let name):
            if let rule = rule(refusing: name) { return rule }
        }
        return target.port.map(ports.contains) == true ? nil : .port
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
        if let rule = SpecialAddressRange.rule(refusing: address, allowing: box.rules.blocks) {
            throw AddressRefusal(rule, host: host)
        }
    }

    private func rule(refusing name: String) -> AddressRefusal.Rule? {
        let entry = box.rules.hosts?.entry(allowing: name)
        if box.rules.hosts != nil, entry == nil { return .hostNotAllowed }
        // Special names are allowed only by entries for them.
        if WebHost.isSpecialUse(name) { return entry.map(WebHost.isSpecialUse) == true ? nil : .specialUseName }
        return entry == nil && !name.contains(".") ? .singleLabelName : nil
    }
}

// MARK: Origins of operators

extension AddressPolicy {
    /// Returns the policy that allows the origin of a URL, and nothing else: its scheme, host and port.
    ///
    /// Use it for an upstream that an operator has configured. Its addresses are not checked, so the upstream may be internal,
    /// and every client can apply the policy.
    ///
    /// ```swift
    /// let upstream = try AddressPolicy.origin(of: url)
    /// let orders = try client.guarding(with: upstream)  // Redirects to other origins are refused.
    /// ```
    ///
    /// - Parameter url: A URL with the scheme `http` or `https`, without a user name and a password.
    /// - Returns: The policy.
    /// - Throws: An ``AddressPolicyError`` if the URL is not such a URL.
    public static func origin(of url: URL) throws(AddressPolicyError) -> Self {
        try Self(Rules(hosts: AllowedHosts())).trusting(originOf: url)
    }

    /// Returns this policy, which then also allows the origin of a URL, whatever its host resolves to.
    ///
    /// ```swift
    /// let policy = try AddressPolicy.publicInternet.trusting(originOf: url)
    /// ```
    ///
    /// - Parameter url: A URL with the scheme `http` or `https`, without a user name and a password. Only the same spelling of
    ///   its host is trusted, in upper or lower case.
    /// - Returns: The policy.
    /// - Throws: An ``AddressPolicyError`` if the URL is not such a URL.
    public func trusting(originOf url: URL) throws(AddressPolicyError) -> Self {
        guard let origin = TrustedOrigin(URLTarget(url)) else {
            throw AddressPolicyError(
                "Only the origin of an http or https URL without a user name and a password can be trusted."
            )
        }
        var rules = box.rules
        rules.trustedOrigins.insert(origin)
        return Self(rules)
    }

    /// Whether the policy requires a check of the addresses that hosts resolve to. If it allows only origins of operators, it
    /// does not.
    ///
    /// ```swift
    /// print(AddressPolicy.publicInternet.checksAddresses)  // true
    /// print(try AddressPolicy.origin(of: url).checksAddresses)  // false
    /// ```
    public var checksAddresses: Bool { box.rules.hosts?.isEmpty != true }

    /// Returns whether the addresses of a URL's host must be checked. They are not if the policy trusts the origin of the URL.
    ///
    /// ```swift
    /// let policy = try AddressPolicy.publicInternet.trusting(originOf: url)
    /// print(policy.checksAddresses(of: url))  // false
    /// ```
    public func checksAddresses(of url: URL) -> Bool { checksAddresses && !trusts(URLTarget(url)) }

    private func trusts(_ target: URLTarget) -> Bool {
        guard !box.rules.trustedOrigins.isEmpty, let origin = TrustedOrigin(target) else { return false }
        return box.rules.trustedOrigins.contains(origin)
    }
}

/// An origin that an operator has configured. Its host keeps its spelling, because only clients know how they read it.
private struct TrustedOrigin: Hashable, CustomStringConvertible {
    private let scheme: AddressPolicy.Scheme
    private let host: String
    private let port: Int

    init?(_ target: URLTarget) {
        guard let scheme = target.scheme, let host = target.hostText, !target.hasUserInformation, let port = target.port
        else { return nil }
        self.scheme = scheme
        // Other characters than ASCII letters have no case in host names.
        self.host = host.withBytes { $0.lowercasedText }
        self.port = port
    }

    var description: String { "\(scheme)://\(host.excerpt(upTo: 253).visible):\(port)" }
}

extension AddressPolicy: CustomStringConvertible {
    /// What the policy allows, such as `addresses on the public internet`.
    public var description: String {
        let origins = box.rules.trustedOrigins.map(\.description).sorted().joined(separator: ", ")
        if !checksAddresses { return origins.isEmpty ? "no addresses" : origins }
        let others =
            box.rules.hosts == nil ? "addresses on the public internet" : "allowed hosts on the public internet"
        let blocks = box.rules.blocks.map(\.description).joined(separator: ", ")
        return others + (blocks.isEmpty ? "" : " or in \(blocks)") + (origins.isEmpty ? "" : ", and to \(origins)")
    }
}
