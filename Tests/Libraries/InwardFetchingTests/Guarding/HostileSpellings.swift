@testable import InwardFetching

/// Spellings of hosts by which attackers reach internal services through filters.
enum HostileSpellings {
    /// Addresses of this machine, of private networks and of metadata services.
    private static let targets: [[UInt8]] = [
        [127, 0, 0, 1], [127, 255, 3, 4], [0, 0, 0, 0], [10, 0, 0, 1], [172, 16, 0, 1], [192, 168, 1, 254],
        [169, 254, 169, 254], [169, 254, 170, 2], [100, 100, 100, 200], [192, 0, 0, 192], [168, 63, 129, 16],
    ]

    /// All spellings as they stand between `http://` and the path.
    static let hosts: [String] = targets.flatMap(spellings) + handwritten

    private static func spellings(of parts: [UInt8]) -> [String] {
        numeric(parts) + escaped(parts) + embedded(parts)
    }

    /// The forms that `inet_aton` and the URL standard read as IPv4 addresses, and similar ones.
    private static func numeric(_ parts: [UInt8]) -> [String] {
        let dotted = parts.map { "\($0)" }.joined(separator: ".")
        let number = parts.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let (lastTwo, lastThree) = (number & 0xFFFF, number & 0xFF_FFFF)
        let octal = parts.map { "0" + String($0, radix: 8) }
        let hex = parts.map { "0x" + String($0, radix: 16) }
        return [
            dotted, dotted + ".", dotted + "..", "." + dotted, "0" + dotted, dotted + ".0", "0." + dotted,
            octal.joined(separator: "."), octal.map { "000" + $0 }.joined(separator: "."), hex.joined(separator: "."),
            hex.joined(separator: ".").uppercased(), parts.map { padded($0) }.joined(separator: "."),
            "\(number)", "\(number)" + ".", "0\(String(number, radix: 8))", "0x\(String(number, radix: 16))",
            "0X\(String(number, radix: 16, uppercase: true))", "0x00000000\(String(number, radix: 16))",
            "\(number + (1 << 32))", "\(UInt128(number) + (1 << 64))",
            "\(parts[0]).\(parts[1]).\(lastTwo)", "\(parts[0]).\(lastThree)", "\(octal[0]).\(lastThree)",
            "\(hex[0]).\(lastThree)", "\(hex[0]).\(octal[1]).\(lastTwo)",
            "\(octal[0]).\(parts[1]).\(hex[2]).\(parts[3])",
            parts.map { "\(UInt($0) + 256)" }.joined(separator: "."), "\(parts[0]).\(parts[1]).\(parts[2]).\(hex[3])",
            "\(dotted):80", "user@\(dotted)", "user:password@\(dotted)", "example.com@\(dotted)",
            "\(dotted)@example.com",
            "\(dotted)\\@example.com", "example.com\\@\(dotted)", "example.com%5C@\(dotted)", "[\(dotted)]",
            "\(dotted)%00", "\(dotted)%20",
            "%20\(dotted)", "\(dotted)%09", "\(dotted)%2e", "\(dotted)%2fexample.com", "\(dotted)%23.example.com",
            "\(dotted)%40example.com", " \(dotted)", "\(dotted) ", "\(dotted)\t", "\(dotted)\n", "\t\(dotted)",
        ]
    }

    private static func padded(_ part: UInt8) -> String {
        let text = "\(part)"
        return String(repeating: "0", count: 4 - text.count) + text
    }

    /// Percent escapes, and characters that become ASCII by compatibility mapping (UTS #46).
    private static func escaped(_ parts: [UInt8]) -> [String] {
        let dotted = parts.map { "\($0)" }.joined(separator: ".")
        let escapes = dotted.utf8.map { "%" + String($0, radix: 16) }
        return [
            escapes.joined(), escapes[0] + dotted.dropFirst(), dotted.replacing(".", with: "%2E"),
            dotted.replacing(".", with: "%E3%80%82"), dotted.replacing(".", with: "。"),
            dotted.replacing(".", with: "．"),
            dotted.replacing(".", with: "｡"), mapped(dotted, digits: 0xFF10), mapped(dotted, digits: 0x1D7CE),
            mapped(dotted, digits: 0x1D7D8), mapped(dotted, digits: 0x0660), enclosed(dotted),
            "\u{200B}" + dotted, dotted + "\u{AD}", "\u{FEFF}" + dotted, "\u{202E}" + dotted, "%E2%80%8B" + dotted,
        ]
    }

    /// Replaces ASCII digits by those of another alphabet.
    private static func mapped(_ text: String, digits zero: UInt32) -> String {
        text.map { character in
            character.wholeNumberValue.flatMap { Unicode.Scalar(zero + UInt32($0)) }.map(String.init)
                ?? String(character)
        }.joined()
    }

    /// Replaces ASCII digits by digits in circles.
    private static func enclosed(_ text: String) -> String {
        text.map { character in
            switch character.wholeNumberValue {
            case nil: String(character)
            case 0: "⓪"
            case let value?: Unicode.Scalar(0x245F + UInt32(value)).map(String.init) ?? ""
            }
        }.joined()
    }

    /// IPv6 addresses that embed the address, in canonical and other spellings.
    private static func embedded(_ parts: [UInt8]) -> [String] {
        guard let inner = IPAddress(bytes: parts) else { return [] }
        let groups = stride(from: 0, to: 4, by: 2).map {
            String(UInt16(parts[$0]) << 8 | UInt16(parts[$0 + 1]), radix: 16)
        }
        let (dotted, hex) = ("\(inner)", groups.joined(separator: ":"))
        return inner.embeddings.map { "[\($0)]" } + [
            "[::\(dotted)]", "[::ffff:\(hex)]", "[::FFFF:\(dotted)]", "[0:0:0:0:0:ffff:\(dotted)]", "[0::ffff:\(hex)]",
            "[0000:0000:0000:0000:0000:ffff:\(hex)]", "[64:ff9b::\(dotted)]", "[64:FF9B::\(dotted)]",
            "[::ffff:0:\(dotted)]",
            "[2002:\(hex)::]", "[2002:\(hex)::1]", "[::ffff:\(dotted)%25eth0]", "[::ffff:\(dotted)]:80",
            "::ffff:\(dotted)",
            "[::ffff:\(dotted)].example.com", "[[::ffff:\(dotted)]]", "[::ffff:\(dotted)", "user@[::ffff:\(dotted)]",
        ]
    }

    private static let handwritten = [
        "localhost", "LOCALHOST", "LocalHost.", "localhost:443", "a.localhost", "localhost.localdomain",
        "ip6-localhost",
        "loopback", "ｌocalhost", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "loc\u{AD}alhost", "%6cocalhost", "localhost%00.example.com",
        "localhost%2e",
        "ⅼocalhost", "𝓁ocalhost", "localhoſt", "xn--localhost", "localhost%20", "printer.local", "metadata",
        "metadata.google.internal", "METADATA.GOOGLE.INTERNAL", "metadata.google.internal.", "instance-data",
        "instance-data.ec2.internal", "host.docker.internal", "gateway.docker.internal", "kubernetes",
        "kubernetes.default.svc.cluster.local", "router.lan", "router.home", "router.home.arpa",
        "1.0.0.127.in-addr.arpa",
        "ipv4only.arpa", "intranet", "wiki.intranet", "wiki.corp", "mail.mail", "db.private", "hidden.onion",
        "name.alt",
        "site.test", "site.example", "site.invalid", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[0::1]", "[::01]",
        "[::0001]",
        "[0000::1]", "[::0.0.0.1]", "[::1%25lo]", "[::1%lo]", "[::1]:80", "[fe80::1]", "[fe80::1%25eth0]",
        "[fe80::1%eth0]",
        "[fec0::1]", "[fc00::1]", "[fd12:3456:789a::1]", "[fd00:ec2::254]", "[FD00:EC2::254]", "[fd00:0ec2::254]",
        "[fd20:ce::254]", "[fd00:42::42]", "[fe80::a9fe:a9fe]", "[ff02::1]", "[100::1]", "[64:ff9b:1::1]", "[2001::1]",
        "[2001:db8::1]", "[2001:10::1]", "[2001:20::1]", "[3fff::1]", "[5f00::1]", "[4000::1]", "[v1.::1]",
        "[vF.localhost]",
        "[localhost]", "[]", "[:]", "[", "]", "[::1", "::1]", "[::1]x", "[::1]80", "0", "00", "0x", "0x0", "0X7F000001",
        "0x7f.1", "0177.1", "127.1", "127.0.1", "1.1", "127.0.0.0x", "127.0.0.", "127..1", "127.0.0.1.1",
        "example.com.127", "a.0x", "a.0xg", "a.1", "a.09", "100.64.0.1", "172.31.255.255", "198.18.0.1", "192.0.0.1",
        "192.0.2.1", "198.51.100.1", "203.0.113.1", "192.88.99.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
        "0.0.0.1",
        "169.254.0.1", "169.254.169.254.", "169.254.169.254%2F", "169。254。169。254", "１６９.２５４.１６９.２５４", "", ":80", "@",
        "@example.com", ":@example.com", "user@example.com", "user:@example.com", ":password@example.com",
        "a@b@example.com",
        "a%40b@example.com", "example.com:80@127.0.0.1", "example.com:22", "example.com:", "example.com:0",
        "example.com:080",
        "example.com:65616", "example.com:4294967376", "example.com:18446744073709551696", "example.com:-80",
        "example.com:+80", "example.com: 80", "example.com:80a", "example.com:0x50", "example.com:８０",
        "example.com:80:80",
        "example.com.", "example..com", ".example.com", ".", "..", "exa mple.com", "exa\tmple.com", "exa\nmple.com",
        "exa%6dple.com", "exa%ple.com", "example.com%00", "example.com%", "example.com\\", "\\example.com",
        "exa\\mple.com",
        "example,com", "example;com", "exam'ple.com", "exam\"ple.com", "exam<ple.com", "exam|ple.com", "exam^ple.com",
        "exam{ple}.com", "exam`ple.com", "exam$ple.com", "exam!ple.com", "exam*ple.com", "exam(ple).com",
        "exam+ple.com",
        "exam=ple.com", "exam&ple.com", "exam~ple.com",
        String(repeating: "a", count: 64) + ".com", String(repeating: "a.", count: 126) + "com",
        String(repeating: "a.", count: 5_000) + "com",
    ]
}
