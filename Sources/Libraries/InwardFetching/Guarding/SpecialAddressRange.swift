/// A range of addresses that are not on the public internet.
///
/// The sources are the IANA registries of special-purpose addresses for IPv4 and IPv6 (RFC 6890, RFC 8190) and the RFCs and
/// documents beside each range. Where two ranges overlap, the smaller one comes first.
struct SpecialAddressRange {
    /// Where an address of the range embeds an IPv4 address.
    private enum Embedding {
        /// In the last 32 bits.
        case last
        /// After a prefix of 16 bits (RFC 3056 section 2).
        case sixToFour
        /// The server after a prefix of 32 bits, and the client, inverted, in the last 32 bits (RFC 4380 section 4).
        case teredo
    }

    private let block: IPAddressBlock
    private let rule: AddressRefusal.Rule
    private let embedding: Embedding?

    private init(_ block: IPAddressBlock, _ rule: AddressRefusal.Rule, embedding: Embedding? = nil) {
        self.block = block
        self.rule = rule
        self.embedding = embedding
    }

    /// Returns the rule by which an address is refused; `nil` if it is on the public internet or allowed.
    ///
    /// If an address embeds an IPv4 address that is refused, the rule is that of the IPv4 address.
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - blocks: The blocks that are allowed. A block does not allow addresses of a special range that is smaller than it.
    /// - Returns: The rule.
    static func rule(refusing address: IPAddress, allowing blocks: [IPAddressBlock]) -> AddressRefusal.Rule? {
        if address.isISATAP, let rule = isatap.verdict(on: address, allowing: blocks) { return rule }
        let ranges = address.family == .ipv4 ? ipv4ByFirstByte : ipv6ByFirstByte
        let range = ranges[Int(address.firstByte)].first { $0.block.contains(address) }
        return range?.verdict(on: address, allowing: blocks)
    }

    // For each first byte the ranges that have such addresses, because most addresses of the public internet are near none.
    private static let ipv4ByFirstByte = byFirstByte(ipv4)
    private static let ipv6ByFirstByte = byFirstByte(ipv6)

    private static func byFirstByte(_ ranges: [Self]) -> [[Self]] {
        (0...UInt8.max).map { byte in ranges.filter { $0.block.contains(firstByte: byte) } }
    }

    /// Returns the rule by which an address of this range is refused; `nil` if it is allowed.
    private func verdict(on address: IPAddress, allowing blocks: [IPAddressBlock]) -> AddressRefusal.Rule? {
        let embedded = embeddedAddresses(in: address)
        if let rule = embedded.first.flatMap({ Self.rule(refusing: $0, allowing: blocks) })
            ?? embedded.second.flatMap({ Self.rule(refusing: $0, allowing: blocks) })
        {
            return rule
        }
        // Where a prefix of NAT64 may have several lengths, the IPv4 address is at the end only after 96 bits.
        let shortest = embedding == .last ? 96 : block.prefixLength
        return blocks.contains { $0.prefixLength >= shortest && $0.contains(address) } ? nil : rule
    }

    private func embeddedAddresses(in address: IPAddress) -> (first: IPAddress?, second: IPAddress?) {
        let last = UInt32(truncatingIfNeeded: address.bits)
        return switch embedding {
        case nil: (nil, nil)
        case .last: (IPAddress(ipv4: last), nil)
        case .sixToFour: (IPAddress(ipv4: UInt32(truncatingIfNeeded: address.bits >> 80)), nil)
        case .teredo: (IPAddress(ipv4: ~last), IPAddress(ipv4: UInt32(truncatingIfNeeded: address.bits >> 64)))
        }
    }

    private static let ipv4: [Self] = [
        // Metadata services and other services of cloud providers that only their virtual machines reach.
        Self(.v4(169, 254, 169, 254, length: 32), .cloudMetadata),  // AWS, Azure, Google, Oracle, DigitalOcean, …
        Self(.v4(169, 254, 169, 253, length: 32), .cloudMetadata),  // AWS: name server
        Self(.v4(169, 254, 169, 123, length: 32), .cloudMetadata),  // AWS: time server
        Self(.v4(169, 254, 170, 2, length: 32), .cloudMetadata),  // AWS: credentials of ECS tasks
        Self(.v4(169, 254, 170, 23, length: 32), .cloudMetadata),  // AWS: credentials of EKS pods
        Self(.v4(169, 254, 42, 42, length: 32), .cloudMetadata),  // Scaleway
        Self(.v4(169, 254, 0, 23, length: 32), .cloudMetadata),  // Tencent
        Self(.v4(100, 100, 100, 200, length: 32), .cloudMetadata),  // Alibaba
        Self(.v4(192, 0, 0, 192, length: 32), .cloudMetadata),  // Oracle, classic
        Self(.v4(168, 63, 129, 16, length: 32), .cloudMetadata),  // Azure: WireServer

        Self(.v4(0, 0, 0, 0, length: 32), .unspecified),  // RFC 1122 section 3.2.1.3
        Self(.v4(0, 0, 0, 0, length: 8), .thisNetwork),  // RFC 791 section 3.2
        Self(.privateUse10, .privateUse),  // RFC 1918
        Self(.v4(100, 64, 0, 0, length: 10), .sharedAddressSpace),  // RFC 6598
        Self(.ipv4Loopback, .loopback),  // RFC 1122 section 3.2.1.3
        Self(.v4(169, 254, 0, 0, length: 16), .linkLocal),  // RFC 3927
        Self(.privateUse172, .privateUse),  // RFC 1918
        Self(.v4(192, 0, 0, 0, length: 24), .protocolAssignments),  // RFC 6890 section 2.1
        Self(.v4(192, 0, 2, 0, length: 24), .documentation),  // RFC 5737: TEST-NET-1
        Self(.v4(192, 88, 99, 0, length: 24), .sixToFourRelay),  // RFC 3068, deprecated by RFC 7526
        Self(.privateUse192, .privateUse),  // RFC 1918
        Self(.v4(198, 18, 0, 0, length: 15), .benchmarking),  // RFC 2544
        Self(.v4(198, 51, 100, 0, length: 24), .documentation),  // RFC 5737: TEST-NET-2
        Self(.v4(203, 0, 113, 0, length: 24), .documentation),  // RFC 5737: TEST-NET-3
        Self(.v4(224, 0, 0, 0, length: 4), .multicast),  // RFC 5771
        Self(.v4(255, 255, 255, 255, length: 32), .broadcast),  // RFC 919 section 7
        Self(.v4(240, 0, 0, 0, length: 4), .reserved),  // RFC 1112 section 4
    ]

    private static let ipv6: [Self] = [
        Self(.v6(0xFD00_0EC2_0000_0000, 0x254, length: 128), .cloudMetadata),  // AWS
        Self(.v6(0xFD00_0EC2_0000_0000, 0x253, length: 128), .cloudMetadata),  // AWS: name server
        Self(.v6(0xFD00_0EC2_0000_0000, 0x123, length: 128), .cloudMetadata),  // AWS: time server
        Self(.v6(0xFD00_0EC2_0000_0000, 0x23, length: 128), .cloudMetadata),  // AWS: credentials of EKS pods
        Self(.v6(0xFD20_00CE_0000_0000, 0x254, length: 128), .cloudMetadata),  // Google
        Self(.v6(0xFD00_0042_0000_0000, 0x42, length: 128), .cloudMetadata),  // Scaleway
        Self(.v6(0xFE80_0000_0000_0000, 0xA9FE_A9FE, length: 128), .cloudMetadata),  // OpenStack

        Self(.v6(0, 0, length: 128), .unspecified),  // RFC 4291 section 2.5.2
        Self(.ipv6Loopback, .loopback),  // RFC 4291 section 2.5.3
        Self(.v6(0, length: 96), .ipv4Compatible, embedding: .last),  // RFC 4291 section 2.5.5.1
        Self(.v6(0, 0xFFFF_0000_0000, length: 96), .ipv4Mapped, embedding: .last),  // RFC 4291 section 2.5.5.2
        Self(.v6(0, 0xFFFF_0000_0000_0000, length: 96), .ipv4Translated, embedding: .last),  // RFC 2765 section 2.1
        Self(.nat64, .nat64, embedding: .last),  // RFC 6052 section 2.1
        Self(.v6(0x0064_FF9B_0001_0000, length: 48), .localNAT64, embedding: .last),  // RFC 8215
        Self(.v6(0x0100_0000_0000_0000, length: 64), .discardOnly),  // RFC 6666
        Self(.v6(0x0100_0000_0000_0001, length: 64), .dummyPrefix),  // RFC 9780
        Self(.v6(0x2001_0000_0000_0000, length: 32), .teredo, embedding: .teredo),  // RFC 4380
        Self(.v6(0x2001_0002_0000_0000, length: 48), .benchmarking),  // RFC 5180
        Self(.v6(0x2001_0010_0000_0000, length: 28), .orchid),  // RFC 4843, deprecated
        Self(.v6(0x2001_0020_0000_0000, length: 28), .orchid),  // RFC 7343
        Self(.v6(0x2001_0000_0000_0000, length: 23), .protocolAssignments),  // RFC 2928
        Self(.v6(0x2001_0DB8_0000_0000, length: 32), .documentation),  // RFC 3849
        Self(.v6(0x2002_0000_0000_0000, length: 16), .sixToFour, embedding: .sixToFour),  // RFC 3056
        Self(.v6(0x3FFF_0000_0000_0000, length: 20), .documentation),  // RFC 9637
        Self(.v6(0x5F00_0000_0000_0000, length: 16), .segmentRouting),  // RFC 9602
        Self(.uniqueLocal, .uniqueLocal),  // RFC 4193
        Self(.v6(0xFE80_0000_0000_0000, length: 10), .linkLocal),  // RFC 4291 section 2.5.6
        Self(.v6(0xFEC0_0000_0000_0000, length: 10), .siteLocal),  // RFC 4291 section 2.5.7, deprecated by RFC 3879
        Self(.v6(0xFF00_0000_0000_0000, length: 8), .multicast),  // RFC 4291 section 2.7

        // Everything except 2000::/3 (RFC 4291 section 2.4 and the IANA registry of the IPv6 address space).
        Self(.v6(0x0000_0000_0000_0000, length: 3), .notGlobalUnicast),
        Self(.v6(0x4000_0000_0000_0000, length: 2), .notGlobalUnicast),
        Self(.v6(0x8000_0000_0000_0000, length: 1), .notGlobalUnicast),
    ]

    /// Interface identifiers of tunnels within a site, after any prefix (RFC 5214 section 6.1).
    private static let isatap = Self(.v6(0, length: 0), .isatap, embedding: .last)
}

extension IPAddress {
    /// Whether the interface identifier is that of an ISATAP tunnel, with or without the bit for universal identifiers.
    fileprivate var isISATAP: Bool {
        family == .ipv6 && UInt32(truncatingIfNeeded: bits >> 32) & ~0x0200_0000 == 0x5EFE
    }

    fileprivate var firstByte: UInt8 { UInt8(truncatingIfNeeded: bits >> UInt128(family.bitCount - 8)) }
}
