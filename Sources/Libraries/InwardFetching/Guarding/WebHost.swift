/// A host that all programs read alike.
enum WebHost: Hashable {
    /// An IP address in canonical form. IPv6 addresses are in brackets.
    case address(IPAddress)
    /// A name in lowercase.
    case name(String)

    /// Reads the host of a URL.
    ///
    /// Programs disagree about many spellings: `0177.1` is an IPv4 address to some resolvers and a name to others, and some
    /// clients decode `%6C` in a host. Such spellings are refused rather than interpreted, so that nobody can pass a check with
    /// one reading and connect with another.
    ///
    /// - Parameter bytes: The host as written.
    /// - Throws: An ``AddressRefusal`` that names the rule for the spelling.
    init(_ bytes: Span<UInt8>) throws(AddressRefusal) {
        if bytes.isEmpty { throw AddressRefusal(.missingHost, host: nil) }
        if bytes[0] == UInt8(ascii: "[") {
            guard bytes.count >= 2, bytes[bytes.count - 1] == UInt8(ascii: "]"),
                let address = IPAddress(canonical: bytes.extracting(1..<bytes.count - 1)), address.family == .ipv6
            else {
                let hasZone = bytes.array.contains(UInt8(ascii: "%"))
                throw AddressRefusal(hasZone ? .zoneIdentifier : .addressSpelling, host: bytes.text)
            }
            self = .address(address)
        } else if let address = IPAddress(canonical: bytes), address.family == .ipv4 {
            self = .address(address)
        } else {
            if let rule = Self.rule(refusing: bytes.array) { throw AddressRefusal(rule, host: bytes.text) }
            self = .name(bytes.lowercasedText)
        }
    }

    /// Returns the rule by which the spelling of a name is refused; `nil` if it is a name of letters, digits, hyphens and
    /// underscores (RFC 1123 section 2.1, with the underscores that are common in practice).
    private static func rule(refusing name: [UInt8]) -> AddressRefusal.Rule? {
        if name.contains(UInt8(ascii: "%")) { return .percentEncodedHost }
        guard name.allSatisfy(\.isNameCharacter) else { return .hostCharacter }
        let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.allSatisfy({ !$0.isEmpty }) else { return .emptyLabel }
        // RFC 1035 section 2.3.4. The lengths there include those of the labels.
        guard name.count <= 253, labels.allSatisfy({ $0.count <= 63 }) else { return .hostLength }
        return labels.last.map(isNumber) == true ? .numericHost : nil
    }

    /// Whether a host that ends in this label may be read as an IPv4 address (WHATWG URL, section 3.5: "ends in a number").
    private static func isNumber(_ label: ArraySlice<UInt8>) -> Bool {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return label.allSatisfy(digits.contains)
            || label.first == UInt8(ascii: "0") && label.dropFirst().first.map { $0 | 0x20 } == UInt8(ascii: "x")
    }
}

extension WebHost {
    /// Returns whether a name belongs to a local network or a special protocol, so that it is not on the public internet.
    static func isSpecialUse(_ name: String) -> Bool {
        specialUseDomains.contains(name[(name.lastIndex(of: ".").map(name.index(after:)) ?? name.startIndex)...])
    }

    /// The last labels of names that are not on the public internet.
    private static let specialUseDomains: Set<Substring> = [
        "example", "invalid", "localhost", "test",  // RFC 6761
        "local",  // RFC 6762: multicast DNS
        "corp", "home", "intranet", "lan", "private",  // RFC 6762 appendix G: common in private networks
        "internal",  // Reserved by ICANN for private use in 2024
        "mail",  // Withheld by ICANN, like corp and home, because private networks use it
        "localdomain",  // The default of several operating systems
        "onion",  // RFC 7686: Tor
        "alt",  // RFC 9476: other naming systems
        "arpa",  // RFC 3172: infrastructure, such as home.arpa of RFC 8375
    ]
}

extension UInt8 {
    /// Whether the byte is an ASCII letter, a digit, a hyphen, an underscore, or the dot between labels.
    fileprivate var isNameCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
