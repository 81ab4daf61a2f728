import Testing

@testable import InwardFetching

struct AddressPolicyRangeTests {
    typealias Rule = AddressRefusal.Rule

    /// Returns the rule by which the policy for the public internet refuses an address.
    private func rule(_ address: IPAddress) -> Rule? {
        do throws(AddressRefusal) {
            try AddressPolicy.publicInternet.check(address)
            #expect(address.isPublic)
            return nil
        } catch {
            #expect(!address.isPublic)
            return error.rule
        }
    }

    /// A range, its rule, and the rules for the addresses before and after it.
    private static let ranges: [(String, String, Rule, Rule?, Rule?)] = [
        ("0.0.0.0", "0.0.0.0", .unspecified, nil, .thisNetwork),
        ("0.0.0.1", "0.255.255.255", .thisNetwork, .unspecified, nil),
        ("10.0.0.0", "10.255.255.255", .privateUse, nil, nil),
        ("100.64.0.0", "100.127.255.255", .sharedAddressSpace, nil, nil),
        ("100.100.100.200", "100.100.100.200", .cloudMetadata, .sharedAddressSpace, .sharedAddressSpace),
        ("127.0.0.0", "127.255.255.255", .loopback, nil, nil),
        ("168.63.129.16", "168.63.129.16", .cloudMetadata, nil, nil),
        ("169.254.0.0", "169.254.255.255", .linkLocal, nil, nil),
        ("169.254.0.23", "169.254.0.23", .cloudMetadata, .linkLocal, .linkLocal),
        ("169.254.42.42", "169.254.42.42", .cloudMetadata, .linkLocal, .linkLocal),
        ("169.254.169.123", "169.254.169.123", .cloudMetadata, .linkLocal, .linkLocal),
        ("169.254.169.253", "169.254.169.254", .cloudMetadata, .linkLocal, .linkLocal),
        ("169.254.170.2", "169.254.170.2", .cloudMetadata, .linkLocal, .linkLocal),
        ("169.254.170.23", "169.254.170.23", .cloudMetadata, .linkLocal, .linkLocal),
        ("172.16.0.0", "172.31.255.255", .privateUse, nil, nil),
        ("192.0.0.0", "192.0.0.255", .protocolAssignments, nil, nil),
        ("192.0.0.192", "192.0.0.192", .cloudMetadata, .protocolAssignments, .protocolAssignments),
        ("192.0.2.0", "192.0.2.255", .documentation, nil, nil),
        ("192.88.99.0", "192.88.99.255", .sixToFourRelay, nil, nil),
        ("192.168.0.0", "192.168.255.255", .privateUse, nil, nil),
        ("198.18.0.0", "198.19.255.255", .benchmarking, nil, nil),
        ("198.51.100.0", "198.51.100.255", .documentation, nil, nil),
        ("203.0.113.0", "203.0.113.255", .documentation, nil, nil),
        ("224.0.0.0", "239.255.255.255", .multicast, nil, .reserved),
        ("240.0.0.0", "255.255.255.254", .reserved, .multicast, .broadcast),
        ("255.255.255.255", "255.255.255.255", .broadcast, .reserved, nil),

        ("::", "::", .unspecified, nil, .loopback),
        ("::1", "::1", .loopback, .unspecified, .thisNetwork),
        ("100::", "100::ffff:ffff:ffff:ffff", .discardOnly, .notGlobalUnicast, .dummyPrefix),
        ("100:0:0:1::", "100::1:ffff:ffff:ffff:ffff", .dummyPrefix, .discardOnly, .notGlobalUnicast),
        ("2001:1::", "2001:1:ffff:ffff:ffff:ffff:ffff:ffff", .protocolAssignments, .unspecified, .benchmarking),
        ("2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", .benchmarking, .protocolAssignments, .protocolAssignments),
        ("2001:10::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", .orchid, .protocolAssignments, .protocolAssignments),
        ("2001:30::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", .protocolAssignments, .orchid, nil),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", .documentation, nil, nil),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", .documentation, nil, nil),
        ("4000::", "5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", .notGlobalUnicast, nil, .segmentRouting),
        ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", .segmentRouting, .notGlobalUnicast, .notGlobalUnicast),
        ("8000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", .notGlobalUnicast, .notGlobalUnicast, .uniqueLocal),
        ("101::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", .notGlobalUnicast, .notGlobalUnicast, nil),
        ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", .uniqueLocal, .notGlobalUnicast, .notGlobalUnicast),
        ("fd00:42::42", "fd00:42::42", .cloudMetadata, .uniqueLocal, .uniqueLocal),
        ("fd00:ec2::23", "fd00:ec2::23", .cloudMetadata, .uniqueLocal, .uniqueLocal),
        ("fd00:ec2::123", "fd00:ec2::123", .cloudMetadata, .uniqueLocal, .uniqueLocal),
        ("fd00:ec2::253", "fd00:ec2::254", .cloudMetadata, .uniqueLocal, .uniqueLocal),
        ("fd20:ce::254", "fd20:ce::254", .cloudMetadata, .uniqueLocal, .uniqueLocal),
        ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", .linkLocal, .notGlobalUnicast, .siteLocal),
        ("fe80::a9fe:a9fe", "fe80::a9fe:a9fe", .cloudMetadata, .linkLocal, .linkLocal),
        ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", .siteLocal, .linkLocal, .multicast),
        ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", .multicast, .siteLocal, nil),
    ]

    @Test(arguments: ranges)
    func rangesEndAtTheirBoundaries(first: String, last: String, rule: Rule, before: Rule?, after: Rule?) throws {
        let (first, last) = try (#require(IPAddress(first)), #require(IPAddress(last)))
        #expect(self.rule(first) == rule)
        #expect(self.rule(last) == rule)
        if let previous = first.previous { #expect(self.rule(previous) == before, "\(previous)") }
        if let next = last.next { #expect(self.rule(next) == after, "\(next)") }
    }

    /// Where each form of embedding begins and ends, with a public address inside.
    @Test(
        arguments: [
            ("::8.8.8.8", .ipv4Compatible), ("::1:808:808", .notGlobalUnicast),
            ("::fffe:808:808", .notGlobalUnicast), ("::ffff:8.8.8.8", .ipv4Mapped),
            ("::1:0:808:808", .notGlobalUnicast),
            ("::fffe:ffff:808:808", .notGlobalUnicast), ("::ffff:0:808:808", .ipv4Translated),
            ("::ffff:1:808:808", .notGlobalUnicast), ("64:ff9a::808:808", .notGlobalUnicast),
            ("64:ff9b::808:808", .nat64),
            ("64:ff9b::1:808:808", .notGlobalUnicast), ("64:ff9b:0:ffff::808:808", .notGlobalUnicast),
            ("64:ff9b:1::808:808", .localNAT64), ("64:ff9b:1:ffff:ffff:ffff:808:808", .localNAT64),
            ("64:ff9b:2::808:808", .notGlobalUnicast), ("2000:ffff:808:808::f7f7:f7f7", nil),
            ("2001:0:808:808::f7f7:f7f7", .teredo), ("2001:1:808:808::f7f7:f7f7", .protocolAssignments),
            ("2001:ffff:808:808::", nil), ("2002:808:808::", .sixToFour),
            ("2002:808:808:ffff:ffff:ffff:ffff:ffff", .sixToFour),
            ("2003:808:808::", nil), ("2606:4700::5efe:808:808", .isatap), ("2606:4700::200:5efe:808:808", .isatap),
            ("2606:4700::100:5efe:808:808", nil), ("2606:4700::5eff:808:808", nil), ("2606:4700::5efd:808:808", nil),
            ("2606:4700::1:5efe:808:808", nil), ("2606:4700::8000:5efe:808:808", nil),
        ] as [(String, Rule?)]
    )
    func embeddingsOfPublicAddressesAreRefused(address: String, rule: Rule?) throws {
        #expect(try self.rule(#require(IPAddress(address))) == rule)
    }

    /// All forms of embedding, with addresses of all IPv4 ranges.
    @Test(arguments: ranges.filter { $0.0.contains(".") }.map { ($0.0, $0.2) })
    func embeddedAddressesAreJudged(address: String, rule: Rule) throws {
        let inner = try #require(IPAddress(address))
        // The IPv6 loopback address has the form of an embedded address but is none.
        for outer in inner.embeddings where outer != IPAddress("::1") {
            #expect(self.rule(outer) == rule, "\(outer)")
        }
        #expect(inner.embeddings.count == 11)
        #expect(inner.embeddings.allSatisfy { !$0.isPublic })
    }

    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "93.184.216.34", "151.101.1.140", "185.199.108.153", "192.31.196.1",
        "192.175.48.1", "198.41.0.4", "223.255.255.255", "2000::", "2001:200::", "2001:4860:4860::8888",
        "2606:4700:4700::1111",
        "2620:fe::fe", "2a00:1450:4001:82b::200e", "3ffe:ffff::", "3fff:1000::",
    ])
    func publicAddressesAreAllowed(address: String) throws {
        #expect(try rule(#require(IPAddress(address))) == nil)
    }
}

extension IPAddress {
    /// The address before this one; `nil` for the first.
    fileprivate var previous: IPAddress? {
        guard bits > 0 else { return nil }
        return family == .ipv4 ? IPAddress(ipv4: UInt32(bits - 1)) : IPAddress(ipv6: bits - 1)
    }

    /// The address after this one; `nil` for the last.
    fileprivate var next: IPAddress? {
        switch family {
        case .ipv4: bits < UInt128(UInt32.max) ? IPAddress(ipv4: UInt32(bits + 1)) : nil
        case .ipv6: bits < .max ? IPAddress(ipv6: bits + 1) : nil
        }
    }

    /// The IPv6 addresses that embed an IPv4 address, in every known form.
    var embeddings: [IPAddress] {
        let publicHead: UInt128 = 0x2606_4700 << 96
        let linkLocalHead: UInt128 = 0xFE80 << 112
        let sixToFour: UInt128 = 0x2002 << 112 | bits << 80
        let inverted = UInt128(~UInt32(bits))
        let teredoClient: UInt128 = 0x2001_0000_0808_0808 << 64 | inverted
        let teredoServer: UInt128 = 0x2001 << 112 | bits << 64 | 0xF7F7_F7F7
        let heads: [UInt128] = [
            0, 0xFFFF << 32, 0xFFFF << 48, 0x0064_FF9B << 96, 0x0064_FF9B_0001 << 80, publicHead | 0x5EFE << 32,
            publicHead | 0x0200_5EFE << 32, linkLocalHead | 0x5EFE << 32,
        ]
        return (heads.map { $0 | bits } + [sixToFour, teredoClient, teredoServer]).map { IPAddress(ipv6: $0) }
    }
}
