extension AddressRefusal {
    /// The rules of ``AddressPolicy``. Their names are stable, and future versions may add more.
    ///
    /// ```swift
    /// do {
    ///     try AddressPolicy.publicInternet.check(url)
    /// } catch where error.rule == .scheme {
    ///     print("Use https.")
    /// }
    /// ```
    public struct Rule: Hashable, Sendable, CustomStringConvertible {
        fileprivate enum Code: String {
            case scheme
            case missingHost
            case userInformation
            case port
            case percentEncodedHost
            case zoneIdentifier
            case addressSpelling
            case numericHost
            case hostCharacter
            case hostLength
            case emptyLabel
            case specialUseName
            case singleLabelName
            case hostNotAllowed
            case unspecified
            case thisNetwork
            case loopback
            case privateUse
            case sharedAddressSpace
            case linkLocal
            case cloudMetadata
            case protocolAssignments
            case documentation
            case benchmarking
            case multicast
            case reserved
            case broadcast
            case uniqueLocal
            case siteLocal
            case discardOnly
            case dummyPrefix
            case segmentRouting
            case orchid
            case notGlobalUnicast
            case ipv4Mapped
            case ipv4Compatible
            case ipv4Translated
            case nat64
            case localNAT64
            case sixToFour
            case sixToFourRelay
            case teredo
            case isatap
        }

        fileprivate let code: Code

        /// The name, such as `loopback`.
        public var name: String { code.rawValue }

        /// The name, such as `loopback`.
        public var description: String { name }
    }
}

// MARK: Rules for URLs

extension AddressRefusal.Rule {
    /// Schemes that the policy does not allow.
    public static let scheme = Self(code: .scheme)
    /// URLs without a host.
    public static let missingHost = Self(code: .missingHost)
    /// URLs with a user name or a password.
    public static let userInformation = Self(code: .userInformation)
    /// Ports that the policy does not allow, and ports with leading zeros or without digits.
    public static let port = Self(code: .port)
    /// Hosts with percent-encoded characters.
    public static let percentEncodedHost = Self(code: .percentEncodedHost)
    /// IPv6 addresses with a zone, such as `fe80::1%eth0`.
    public static let zoneIdentifier = Self(code: .zoneIdentifier)
    /// Text in brackets that is not an IPv6 address in canonical form (RFC 5952).
    public static let addressSpelling = Self(code: .addressSpelling)
    /// Hosts that end in a number without being a canonical IPv4 address, such as `0177.1`, `127.1` and `2130706433`.
    public static let numericHost = Self(code: .numericHost)
    /// Hosts with characters other than ASCII letters, digits, hyphens, underscores and dots.
    public static let hostCharacter = Self(code: .hostCharacter)
    /// Hosts of more than 253 characters, and labels of more than 63.
    public static let hostLength = Self(code: .hostLength)
    /// Hosts with consecutive dots, or with a dot at the beginning or the end.
    public static let emptyLabel = Self(code: .emptyLabel)
    /// Names of local networks and special protocols, such as `localhost`, `.local` and `.internal`.
    public static let specialUseName = Self(code: .specialUseName)
    /// Names without a dot, which are completed within the local network.
    public static let singleLabelName = Self(code: .singleLabelName)
    /// Hosts that are not among those of the policy.
    public static let hostNotAllowed = Self(code: .hostNotAllowed)
}

// MARK: Rules for addresses

extension AddressRefusal.Rule {
    /// The address that means no address, such as `0.0.0.0` and `::`.
    public static let unspecified = Self(code: .unspecified)
    /// Addresses of the local network without its number, `0.0.0.0/8`.
    public static let thisNetwork = Self(code: .thisNetwork)
    /// This machine, such as `127.0.0.1` and `::1`.
    public static let loopback = Self(code: .loopback)
    /// Private IPv4 networks, such as `10.0.0.0/8`.
    public static let privateUse = Self(code: .privateUse)
    /// Networks between providers and customers, `100.64.0.0/10`.
    public static let sharedAddressSpace = Self(code: .sharedAddressSpace)
    /// Addresses within one link, such as `169.254.0.0/16` and `fe80::/10`.
    public static let linkLocal = Self(code: .linkLocal)
    /// Services of cloud providers for their virtual machines, such as `169.254.169.254`, which hand out credentials.
    public static let cloudMetadata = Self(code: .cloudMetadata)
    /// Addresses for protocols of the internet itself, `192.0.0.0/24` and `2001::/23`.
    public static let protocolAssignments = Self(code: .protocolAssignments)
    /// Addresses for examples in documents, such as `192.0.2.0/24` and `2001:db8::/32`.
    public static let documentation = Self(code: .documentation)
    /// Addresses for tests of network devices, such as `198.18.0.0/15`.
    public static let benchmarking = Self(code: .benchmarking)
    /// Addresses of groups, `224.0.0.0/4` and `ff00::/8`.
    public static let multicast = Self(code: .multicast)
    /// Addresses without a use, `240.0.0.0/4`.
    public static let reserved = Self(code: .reserved)
    /// All machines of the local network, `255.255.255.255`.
    public static let broadcast = Self(code: .broadcast)
    /// Private IPv6 networks, `fc00::/7`.
    public static let uniqueLocal = Self(code: .uniqueLocal)
    /// The former private IPv6 networks, `fec0::/10`.
    public static let siteLocal = Self(code: .siteLocal)
    /// Addresses whose packets routers drop, `100::/64`.
    public static let discardOnly = Self(code: .discardOnly)
    /// Addresses without a meaning, `100:0:0:1::/64`.
    public static let dummyPrefix = Self(code: .dummyPrefix)
    /// Identifiers of routes within a network, `5f00::/16`.
    public static let segmentRouting = Self(code: .segmentRouting)
    /// Hashes in the form of addresses, `2001:10::/28` and `2001:20::/28`.
    public static let orchid = Self(code: .orchid)
    /// IPv6 addresses outside `2000::/3`.
    public static let notGlobalUnicast = Self(code: .notGlobalUnicast)
    /// IPv4 addresses in IPv6 sockets, `::ffff:0:0/96`.
    public static let ipv4Mapped = Self(code: .ipv4Mapped)
    /// The former form of IPv4 addresses in IPv6, `::/96`.
    public static let ipv4Compatible = Self(code: .ipv4Compatible)
    /// IPv4 addresses in stateless translation, `::ffff:0:0:0/96`.
    public static let ipv4Translated = Self(code: .ipv4Translated)
    /// IPv4 addresses through a translator, `64:ff9b::/96`.
    public static let nat64 = Self(code: .nat64)
    /// IPv4 addresses through a translator of a network of its own, `64:ff9b:1::/48`.
    public static let localNAT64 = Self(code: .localNAT64)
    /// IPv4 addresses of 6to4 tunnels, `2002::/16`.
    public static let sixToFour = Self(code: .sixToFour)
    /// Relays of 6to4 tunnels, `192.88.99.0/24`.
    public static let sixToFourRelay = Self(code: .sixToFourRelay)
    /// IPv4 addresses of Teredo tunnels, `2001::/32`.
    public static let teredo = Self(code: .teredo)
    /// IPv4 addresses of ISATAP tunnels, with the interface identifier `0:5efe` or `200:5efe`.
    public static let isatap = Self(code: .isatap)
}

// MARK: Explanations

extension AddressRefusal.Rule {
    /// Whether the rule is about a part of the URL other than its host.
    var isAboutURL: Bool {
        switch code {
        case .scheme, .missingHost, .userInformation, .port: true
        default: false
        }
    }

    /// Why something was refused, as the end of a sentence.
    var explanation: String {
        switch code {
        case .scheme: "its scheme is not allowed"
        case .missingHost: "it has no host"
        case .userInformation: "it contains a user name or a password"
        case .port: "its port is not allowed"
        case .percentEncodedHost: "it contains percent-encoded characters"
        case .zoneIdentifier: "it contains a zone identifier"
        case .addressSpelling: "it is not an IPv6 address in canonical form"
        case .numericHost: "it ends in a number but is not an IPv4 address in canonical form"
        case .hostCharacter: "it contains characters that are not allowed in host names"
        case .hostLength: "it, or a part of it between dots, is too long"
        case .emptyLabel: "it has a dot at its beginning, at its end or beside another dot"
        case .specialUseName: "names like this are not on the public internet"
        case .singleLabelName: "names without a dot are not on the public internet"
        case .hostNotAllowed: "it is not among the allowed hosts"
        case .unspecified: "it leads to the unspecified address"
        case .thisNetwork: "it leads to an address of \"this network\""
        case .loopback: "it leads to this machine"
        case .privateUse, .uniqueLocal, .siteLocal: "it leads to a private network"
        case .sharedAddressSpace: "it leads to a network between a provider and its customers"
        case .linkLocal: "it leads to the local link"
        case .cloudMetadata: "it leads to a service of a cloud provider for its virtual machines"
        case .protocolAssignments: "it leads to an address for protocols of the internet itself"
        case .documentation: "it leads to an address for examples in documents"
        case .benchmarking: "it leads to an address for tests of network devices"
        case .multicast: "it leads to the address of a multicast group"
        case .reserved: "it leads to a reserved address"
        case .broadcast: "it leads to the broadcast address"
        case .discardOnly: "it leads to an address whose packets are dropped"
        case .dummyPrefix: "it leads to an address without a meaning"
        case .segmentRouting: "it leads to an identifier of a route within a network"
        case .orchid: "it leads to a hash in the form of an address"
        case .notGlobalUnicast: "it leads outside the range of public IPv6 addresses"
        case .ipv4Mapped, .ipv4Compatible, .ipv4Translated: "it leads to an IPv4 address in the form of an IPv6 address"
        case .nat64, .localNAT64: "it leads to an IPv4 address behind a translator"
        case .sixToFour, .teredo, .isatap: "it leads to the address of a tunnel"
        case .sixToFourRelay: "it leads to the address of a relay of tunnels"
        }
    }
}
