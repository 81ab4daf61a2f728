import InwardTesting
import Testing
import Thoroughness

@testable import InwardFetching

struct IPAddressTests {
    @Test(arguments: [
        ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"), ("192.0.2.10", "192.0.2.10"),
        ("::", "::"), ("::1", "::1"), ("1::", "1::"), ("0:0:0:0:0:0:0:0", "::"), ("0::0", "::"),
        ("2001:DB8::A", "2001:db8::a"), ("2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::1"),
        ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
        ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"), ("1:2:3::5:6:7:8", "1:2:3:0:5:6:7:8"),
        // The first of the longest runs is shortened, and a single zero is not.
        ("1:0:0:4:5:0:0:8", "1::4:5:0:0:8"), ("1:0:0:4:0:0:0:8", "1:0:0:4::8"), ("1:0:0:0:5:0:0:0", "1::5:0:0:0"),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.1"), ("::ffff:c000:201", "::ffff:192.0.2.1"),
        ("::192.0.2.1", "::c000:201"), ("64:ff9b::192.0.2.1", "64:ff9b::c000:201"),
        ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"), ("1::1.2.3.4", "1::102:304"),
        ("::2:3:4:5:6:1.2.3.4", "0:2:3:4:5:6:102:304"), ("::ffff:0:0", "::ffff:0.0.0.0"), ("::fffe:1", "::fffe:1"),
        ("::1:ffff:1:1", "::1:ffff:1:1"), ("1:2:3:4:5:6::1.2.3.4", nil),
    ])
    func textIsParsedAndShownInCanonicalForm(text: String, canonical: String?) {
        #expect(IPAddress(text)?.description == canonical)
    }

    @Test(arguments: [
        "", " ", "1", "1.2.3", "1.2.3.4.5", "1.2.3.", ".1.2.3.4", "1..2.3", "1.2.3.4.", "01.2.3.4", "1.2.3.00",
        "1.2.3.256",
        "1.2.3.1000", "1.2.3.99999999999999999999", "1.2.3.-4", "1.2.3.+4", "1.2.3.4 ", " 1.2.3.4", "1.2.3.a",
        "0x1.2.3.4",
        "1.2.3.4/8", "1.2.3.4:80", "１.2.3.4", "1。2。3。4", "1.2.3.4\0",
        ":", ":::", "1:::2", "::1::", "1::2::3", ":1", "1:", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:", ":1:2:3:4:5:6:7:8",
        "1:2:3:4:5:6:7:8:", "1:2:3:4:5:6:7:8:9", "1::2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8",
        "00001::",
        "::12345", "::g", "::-1", "::1%1", "::1%25eth0", "[::1]", "[::1", "::1]", "::1/128", " ::1", "::1 ",
        "1.2.3.4::",
        "::1.2.3.4:1", "::1.2.3", "::1.2.3.4.5", "::01.2.3.4", "::1.2.3.256", "::f.2.3.4", "1:2:3:4:5:6:7:1.2.3.4",
        "1:2:3:4:5:1.2.3.4", "::1:2:3:4:5:6:7:1.2.3.4", "::1:2:3:4:5:6:1.2.3.4", "::１", "::.1.2.3", "::1.2.3.",
        "::12345.1.1.1",
    ])
    func otherTextIsRefused(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func addressesAreCreatedFromTheirBytes() throws {
        #expect(IPAddress(bytes: [192, 0, 2, 1]) == IPAddress("192.0.2.1"))
        #expect(IPAddress(bytes: [0x20, 1] + [UInt8](repeating: 0, count: 13) + [9]) == IPAddress("2001::9"))
        #expect(try #require(IPAddress("192.0.2.1")).bytes == [192, 0, 2, 1])
        #expect(
            try #require(IPAddress("102:304::ff")).bytes == [1, 2, 3, 4] + [UInt8](repeating: 0, count: 11) + [255]
        )
        for count in [0, 1, 3, 5, 8, 15, 17, 32] {
            #expect(IPAddress(bytes: [UInt8](repeating: 1, count: count)) == nil)
        }
    }

    @Test func addressesOfDifferentFamiliesDiffer() throws {
        #expect(IPAddress("0.0.0.1") != IPAddress("::1"))
        #expect(IPAddress("192.0.2.1") != IPAddress("::ffff:192.0.2.1"))
        #expect(try #require(IPAddress("0.0.0.1")).family == .ipv4)
        #expect(try #require(IPAddress("::1")).family == .ipv6)
    }

    @Test func onlyCanonicalTextIsCanonical() {
        for text in ["192.0.2.1", "::", "2001:db8::1", "1:0:0:4::8", "::ffff:192.0.2.1"] {
            #expect(text.withBytes { IPAddress(canonical: $0) } != nil, "\(text)")
        }
        for text in [
            "0::", "2001:DB8::1", "2001:db8:0::1", "1::4:0:0:0:8", "::ffff:c000:201", "::192.0.2.1", "::01", "x",
            "1:0:0:0:0:0:0:8", "1::0:0:8", "1:2:3::5:6:7:8", "1:2:3:4:5:6:7::", "1:0:0:4:5::8", "::FFFF:192.0.2.1",
        ] {
            #expect(text.withBytes { IPAddress(canonical: $0) } == nil, "\(text)")
        }
    }

    /// Addresses with many zeros, so that runs of every length and position occur.
    @Test func textAndBytesLeadBackToTheAddress() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        for _ in 0..<(Thoroughness.isExhaustive ? 20_000 : 2_000) {
            let groups = (0..<8).map { _ in
                Bool.random(using: &random) ? 0 : UInt16.random(in: 0 ... .max, using: &random)
            }
            let bits = groups.reduce(UInt128(0)) { $0 << 16 | UInt128($1) }
            let addresses = [
                IPAddress(ipv6: bits), IPAddress(ipv4: UInt32(truncatingIfNeeded: bits)),
                IPAddress(ipv6: 0xFFFF_0000_0000 | bits & 0xFFFF_FFFF),
            ]
            for address in addresses {
                let text = address.description
                #expect(IPAddress(text) == address, "The seed was \(seed).")
                #expect(IPAddress(text.uppercased()) == address, "The seed was \(seed).")
                #expect(text.withBytes { IPAddress(canonical: $0) } == address, "The seed was \(seed).")
                #expect(IPAddress(bytes: address.bytes) == address, "The seed was \(seed).")
            }
            let whole = groups.map { String($0, radix: 16) }.joined(separator: ":")
            #expect(IPAddress(whole)?.bits == bits, "The seed was \(seed).")
        }
    }

    /// Changing one byte of an address yields another address or none, but never the same one, except in case.
    @Test func noTwoCanonicalTextsAreTheSameAddress() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        let alphabet = Array("0123456789abcdef:.%[]x ".utf8)
        for _ in 0..<(Thoroughness.isExhaustive ? 20_000 : 4_000) {
            // With several runs of zeros, and often with an IPv4 address at the end.
            let bits = (0..<8).reduce(UInt128(0)) { bits, _ in
                bits << 16 | (Bool.random(using: &random) ? 0 : UInt128(UInt16.random(in: 0 ... .max, using: &random)))
            }
            let isMapped = Int.random(in: 0..<4, using: &random) == 0
            let address = IPAddress(ipv6: isMapped ? 0xFFFF_0000_0000 | bits & 0xFFFF_FFFF : bits)
            var text = Array(address.description.utf8)
            let index = Int.random(in: 0..<text.count, using: &random)
            let old = text[index]
            text[index] = try #require(alphabet.randomElement(using: &random))
            let changed = String(decoding: text, as: UTF8.self)
            let canonical = changed.withBytes { IPAddress(canonical: $0) }
            if text[index] != old { #expect(canonical != address, "The seed was \(seed).") }
            // Canonical is exactly what is written.
            let isWritten = IPAddress(changed)?.description == changed
            #expect((canonical != nil) == isWritten, "The seed was \(seed).")
        }
    }
}
