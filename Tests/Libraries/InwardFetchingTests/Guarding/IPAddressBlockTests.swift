import Testing

@testable import InwardFetching

struct IPAddressBlockTests {
    @Test(arguments: [
        "0.0.0.0/0", "10.0.0.0/8", "192.0.2.1/32", "192.0.2.128/25", "::/0", "::1/128", "fc00::/7",
        "2001:db8:8000::/33",
    ])
    func blocksAreParsedAndShown(text: String) throws {
        #expect(try #require(IPAddressBlock(text)).description == text)
    }

    @Test(arguments: [
        "", "/", "10.0.0.0", "10.0.0.0/", "/8", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/08",
        "10.0.0.0/ 8", "10.0.0.0/8/8", "10.0.0/8", "10/8", "10.0.0.1/8", "10.0.0.0/6", "192.0.2.1/31", "::1/127",
        "fc00::/5",
        "10.0.0.0/256", "10.0.0.0/255.0.0.0", "[::1]/128", "0.0.0.1/0",
    ])
    func otherTextIsRefused(text: String) {
        #expect(IPAddressBlock(text) == nil)
    }

    @Test(arguments: [
        ("0.0.0.0/0", "0.0.0.0", true), ("0.0.0.0/0", "255.255.255.255", true), ("0.0.0.0/0", "::", false),
        ("::/0", "ffff::", true), ("::/0", "0.0.0.0", false), ("10.0.0.0/8", "9.255.255.255", false),
        ("10.0.0.0/8", "10.0.0.0", true), ("10.0.0.0/8", "10.255.255.255", true), ("10.0.0.0/8", "11.0.0.0", false),
        ("192.0.2.1/32", "192.0.2.1", true), ("192.0.2.1/32", "192.0.2.0", false), ("::1/128", "::1", true),
        ("::1/128", "::", false), ("::1/128", "0.0.0.1", false), ("2001:db8::/33", "2001:db8:7fff:ffff::", true),
        ("2001:db8::/33", "2001:db8:8000::", false), ("::ffff:0:0/96", "10.0.0.1", false),
    ])
    func blockContainsTheAddressesWithItsPrefix(block: String, address: String, isInside: Bool) throws {
        #expect(try #require(IPAddressBlock(block)).contains(#require(IPAddress(address))) == isInside)
    }

    @Test func namedBlocksAreThoseOfTheirStandards() {
        let blocks: [IPAddressBlock] = [
            .ipv4Loopback, .ipv6Loopback, .privateUse10, .privateUse172, .privateUse192, .uniqueLocal, .nat64,
        ]
        #expect(
            blocks.map(\.description) == [
                "127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "64:ff9b::/96",
            ]
        )
        #expect(IPAddressBlock.privateUse10.prefixLength == 8)
        #expect(IPAddressBlock.privateUse10.first == IPAddress("10.0.0.0"))
    }

    @Test(arguments: [
        "0.0.0.0/0", "240.0.0.0/4", "10.0.0.0/8", "192.0.2.1/32", "::/0", "fc00::/7", "2001:db8::/32", "::1/128",
    ])
    func firstBytesAreThoseOfTheAddresses(text: String) throws {
        let block = try #require(IPAddressBlock(text))
        let shift = block.first.family.bitCount - 8
        let rest = block.first.bits & ((1 << UInt128(shift)) - 1)
        for byte in 0...UInt8.max {
            // An address of the block with this byte, if there is one: after the byte as in the first address.
            let bits = UInt128(byte) << UInt128(shift) | rest
            let address = shift == 24 ? IPAddress(ipv4: UInt32(bits)) : IPAddress(ipv6: bits)
            #expect(block.contains(firstByte: byte) == block.contains(address))
        }
    }
}
