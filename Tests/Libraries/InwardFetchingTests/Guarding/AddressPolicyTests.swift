import InwardFetching
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct AddressPolicyTests {
    /// Returns the rule by which a policy refuses a URL.
    private func rule(_ text: String, _ policy: AddressPolicy = .publicInternet) throws -> AddressRefusal.Rule? {
        let url = try #require(URL(string: text))
        do throws(AddressRefusal) {
            try policy.check(url)
            return nil
        } catch {
            return error.rule
        }
    }

    /// Returns the rule by which a policy refuses an address.
    private func addressRule(_ text: String, _ policy: AddressPolicy) throws -> AddressRefusal.Rule? {
        let address = try #require(IPAddress(text))
        do throws(AddressRefusal) {
            try policy.check(address)
            return nil
        } catch {
            return error.rule
        }
    }

    @Test(arguments: [
        "http://example.com", "https://example.com", "http://example.com/", "https://example.com/a/b?c=d&e#f",
        "HTTPS://EXAMPLE.COM/", "http://example.com:80/", "https://example.com:443/", "http://example.com:443/",
        "https://www.example.org/", "https://example.net?x", "https://example.net#x",
        "https://example.net?a@127.0.0.1/",
        "https://example.net#@127.0.0.1/", "https://example.net/@127.0.0.1/", "https://example.net/http://127.0.0.1/",
        "https://example.net/?url=http://169.254.169.254/", "https://example.net/%00", "https://example.net/a%5Cb",
        "https://xn--bcher-kva.ch/", "https://a.xn--fiqs8s/", "https://xn--80ak6aa92e.com/",
        "https://a.b.c.d.e.f.g.example.com/", "https://my_bucket.s3.amazonaws.com/",
        "https://my--bucket.s3.amazonaws.com/",
        "https://r3---sn-4g5e6nsz.googlevideo.com/", "https://_dmarc.example.com/", "https://1password.com/",
        "https://4chan.org/",
        "https://163.com/", "https://360.cn/", "https://0x.org/", "https://0xdeadbeef.com/", "https://127.0.0.1.com/",
        "https://127.0.0.1.nip.io/", "https://localhost.example.com/", "https://localhost.com/", "https://local.com/",
        "https://internal.example.com/", "https://notlocalhost.com/", "https://mylocal.org/", "https://test.com/",
        "https://example.a1/", "https://a.x0/", "https://a.1a/", "https://onion.com/", "https://arpa.example.com/",
        "https://t.co/", "https://x.com/", "https://a-.com/", "https://metadata.example.com/",
        "https://github.com/apple/swift",
        "https://bücher.ch/", "https://user.github.io/", "https://cdn.jsdelivr.net/npm/a@1/b.js",
        "https://google.com/search?q=a+b",
        "https://\(String(repeating: "a", count: 63)).com/", "https://\(String(repeating: "a.", count: 125))com/",
        "http://8.8.8.8/", "https://1.1.1.1/", "http://93.184.216.34:80/", "http://9.9.9.9", "http://100.63.255.255/",
        "http://100.128.0.0/", "http://172.15.255.255/", "http://172.32.0.0/", "http://192.167.255.255/",
        "http://223.255.255.255/",
        "http://[2606:4700:4700::1111]/", "https://[2001:4860:4860::8888]:443/", "https://[2620:fe::fe]",
        "http://[2a00:1450:4001:82b::200e]/x",
        "http://[2001:200::]/", "http://[2003::1]/",
    ])
    func publicURLsAreAllowed(text: String) throws {
        #expect(try rule(text) == nil)
    }

    @Test func relativeURLsAreJudgedByTheirBase() throws {
        let path = try #require(URL(string: "/x", relativeTo: URL(string: "http://127.0.0.1/")))
        #expect(throws: AddressRefusal.self) { try AddressPolicy.publicInternet.check(path) }
        let other = try #require(URL(string: "//127.0.0.1/x", relativeTo: URL(string: "http://example.com/")))
        #expect(throws: AddressRefusal.self) { try AddressPolicy.publicInternet.check(other) }
        try AddressPolicy.publicInternet.check(
            #require(URL(string: "/x", relativeTo: URL(string: "http://example.com/")))
        )
    }

    @Test func callersNameTheSchemesAndPorts() throws {
        let policy = try AddressPolicy(schemes: [.https], ports: [8443])
        #expect(try rule("https://example.com:8443/", policy) == nil)
        #expect(try rule("http://example.com:8443/", policy) == .scheme)
        #expect(try rule("https://example.com/", policy) == .port)
        #expect(try rule("https://example.com:443/", policy) == .port)
        #expect(try rule("http://example.com/", AddressPolicy(ports: [443])) == .port)
        #expect(try rule("https://example.com/", AddressPolicy(ports: [80])) == .port)
        #expect(try rule("https://example.com/", AddressPolicy(schemes: [])) == .scheme)
        #expect(try rule("https://example.com/", AddressPolicy(ports: [])) == .port)
    }

    @Test(
        arguments: [
            ("example.org", nil), ("EXAMPLE.org", nil), ("a.example.org", .hostNotAllowed), ("cdn.example.net", nil),
            ("a.b.CDN.example.net", nil), ("a.b.example.net", nil), ("example.net", .hostNotAllowed),
            ("notexample.net", .hostNotAllowed), ("notexample.org", .hostNotAllowed),
            ("example.net.evil.com", .hostNotAllowed),
            ("example.org.evil.com", .hostNotAllowed), ("a.notexample.net", .hostNotAllowed), ("8.8.8.8", nil),
            ("8.8.4.4", .hostNotAllowed), ("[2606:4700:4700::1111]", nil), ("[2606:4700:4700::1001]", .hostNotAllowed),
            ("orders", .hostNotAllowed), ("localhost", .hostNotAllowed), ("example.org.", .emptyLabel),
            ("xample.net", .hostNotAllowed),
        ] as [(String, AddressRefusal.Rule?)]
    )
    func allowListMatchesNamesAndSubdomains(host: String, rule: AddressRefusal.Rule?) throws {
        let hosts: Set = ["Example.org", ".example.NET", "8.8.8.8", "[2606:4700:4700::1111]"]
        #expect(try self.rule("https://\(host)/", AddressPolicy(hosts: hosts)) == rule)
    }

    @Test func emptyAllowListAllowsNothing() throws {
        #expect(try rule("https://example.org/", AddressPolicy(hosts: [])) == .hostNotAllowed)
        #expect(try rule("https://8.8.8.8/", AddressPolicy(hosts: [])) == .hostNotAllowed)
    }

    @Test func localNamesAreAllowedOnlyByName() throws {
        let policy = try AddressPolicy(hosts: ["orders", "localhost", ".shop.internal", ".org"])
        for host in ["orders", "localhost", "a.shop.internal", "example.org"] {
            #expect(try rule("http://\(host)/", policy) == nil, "\(host)")
        }
        for host in ["users", "a.localhost", "shop.internal", "a.internal", "org"] {
            #expect(try rule("http://\(host)/", policy) == .hostNotAllowed, "\(host)")
        }
    }

    /// An allowed name may still resolve to an address that is not.
    @Test func allowListDoesNotAllowAddresses() throws {
        let policy = try AddressPolicy(hosts: ["localhost", "127.0.0.1"])
        #expect(try rule("http://127.0.0.1/", policy) == .loopback)
        #expect(try addressRule("127.0.0.1", policy) == .loopback)
    }

    @Test(arguments: [
        "", ".", "..", "*.example.org", "*", "example.org.", "example..org", "exämple.org", "https://example.org",
        "example.org:443",
        "example.org/", " example.org", "127.1", "0x7f.0.0.1", ".127.0.0.1", "::1", "[0::1]", "10.0.0.0/8", ".[::1]",
        "a@b.org",
    ])
    func invalidHostsAreErrors(host: String) {
        let error = #expect(throws: AddressPolicyError.self) { try AddressPolicy(hosts: ["example.com", host]) }
        #expect(error?.description.hasPrefix("The allowed host \"\(host)\" is invalid: it ") == true)
    }

    @Test(
        arguments: [
            ("127.0.0.0/8", "127.0.0.1", nil), ("127.0.0.0/8", "127.255.255.255", nil),
            ("127.0.0.0/8", "10.0.0.1", .privateUse),
            ("127.0.0.0/8", "::1", .loopback), ("127.0.0.1/32", "127.0.0.1", nil),
            ("127.0.0.1/32", "127.0.0.2", .loopback),
            ("::1/128", "::1", nil), ("::1/128", "::", .unspecified), ("10.20.0.0/16", "10.20.1.2", nil),
            ("10.20.0.0/16", "10.21.1.2", .privateUse), ("fc00::/7", "fd00::1", nil),
            ("fd00::/8", "fc00::1", .uniqueLocal),
            // Blocks that are larger than the range.
            ("0.0.0.0/0", "10.0.0.1", .privateUse), ("::/0", "::1", .loopback), ("::/0", "fd00::1", .uniqueLocal),
            ("126.0.0.0/7", "127.0.0.1", .loopback), ("fe00::/8", "fe80::1", .linkLocal),
            // Metadata services within allowed networks.
            ("169.254.0.0/16", "169.254.1.1", nil), ("169.254.0.0/16", "169.254.169.254", .cloudMetadata),
            ("169.254.169.254/32", "169.254.169.254", nil), ("fc00::/7", "fd00:ec2::254", .cloudMetadata),
            ("100.64.0.0/10", "100.100.100.200", .cloudMetadata), ("fd00:ec2::254/128", "fd00:ec2::254", nil),
            // Both an embedding and the embedded address must be allowed.
            ("127.0.0.0/8", "::ffff:127.0.0.1", .ipv4Mapped), ("::ffff:0:0/96", "::ffff:127.0.0.1", .loopback),
            ("::ffff:0:0/96", "::ffff:8.8.8.8", nil), ("64:ff9b::/96", "64:ff9b::808:808", nil),
            ("64:ff9b::/96", "64:ff9b::a00:1", .privateUse), ("64:ff9b:1::/48", "64:ff9b:1::808:808", .localNAT64),
            ("64:ff9b:1:2::/96", "64:ff9b:1:2::808:808", nil),
            ("64:ff9b:1:2::/96", "64:ff9b:1:2::a9fe:a9fe", .cloudMetadata),
            ("2002:808:808::/48", "2002:808:808::1", nil), ("2002::/16", "2002:7f00:1::1", .loopback),
            ("2001::/32", "2001:0:808:808::80ff:fffe", .loopback),
            ("2001::/32", "2001:0:a00:1::f7f7:f7f7", .privateUse),
            ("2001::/32", "2001:0:808:808::f7f7:f7f7", nil), ("fd00::/8", "fd00::5efe:808:808", .isatap),
            ("fd00::5efe:0:0/96", "fd00::5efe:808:808", nil), ("fd00::5efe:0:0/96", "fd00::5efe:a00:1", .privateUse),
            ("2606:4700::/32", "2606:4700::5efe:808:808", .isatap),
            ("2606:4700::5efe:0:0/96", "2606:4700::5efe:808:808", nil),
            ("2606:4700::5efe:0:0/96", "2606:4700::1", nil), ("fe80::5efe:0:0/97", "fe80::5efe:808:808", nil),
        ] as [(String, String, AddressRefusal.Rule?)]
    )
    func allowedBlocksLiftTheRulesForTheirRange(block: String, address: String, rule: AddressRefusal.Rule?) throws {
        let policy = try AddressPolicy(allowing: [#require(IPAddressBlock(block))])
        #expect(try addressRule(address, policy) == rule)
    }

    @Test func severalBlocksAreAllowed() throws {
        let mapped = try #require(IPAddressBlock("::ffff:0:0/96"))
        let policy = try AddressPolicy(ports: [8080], allowing: [.ipv4Loopback, .ipv6Loopback, mapped])
        for host in ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "8.8.8.8"] {
            #expect(try rule("http://\(host):8080/", policy) == nil, "\(host)")
        }
        #expect(try rule("http://localhost:8080/", policy) == .specialUseName)
        #expect(policy.allowedBlocks == [.ipv4Loopback, .ipv6Loopback, mapped])
        #expect(try rule("http://10.0.0.1:8080/", policy) == .privateUse)
    }

    @Test(
        arguments: [
            ("http://orders.internal:8080/api", nil), ("HTTP://Orders.INTERNAL:8080", nil),
            ("http://orders.internal:8080/?u=//a@b", nil), ("https://orders.internal:8080/", .hostNotAllowed),
            ("http://orders.internal/", .hostNotAllowed), ("http://orders.internal:80/", .hostNotAllowed),
            ("http://orders.internal:08080/", .hostNotAllowed), ("http://orders.internal.:8080/", .emptyLabel),
            ("http://a.orders.internal:8080/", .hostNotAllowed), ("http://u@orders.internal:8080/", .userInformation),
            ("http://@orders.internal:8080/", .userInformation), ("http://example.com/", .hostNotAllowed),
            ("http://%6frders.internal:8080/", .percentEncodedHost), ("ftp://orders.internal:8080/", .scheme),
        ] as [(String, AddressRefusal.Rule?)]
    )
    func originPolicyAllowsOneOrigin(text: String, rule: AddressRefusal.Rule?) throws {
        let url = try #require(URL(string: "http://orders.internal:8080/api"))
        #expect(try self.rule(text, .origin(of: url)) == rule)
    }

    @Test(arguments: ["http://example.com", "https://127.0.0.1/", "http://[::1]:9/", "http://127.1/", "http://host./"])
    func originOfEveryWebURLCanBeTrusted(text: String) throws {
        let policy = try AddressPolicy.origin(of: #require(URL(string: text)))
        #expect(try rule(text, policy) == nil)
        #expect(!policy.checksAddresses)
        #expect(try !policy.checksAddresses(of: #require(URL(string: text))))
    }

    @Test(arguments: [
        "ftp://example.com/", "file:///a", "example.com", "http://", "http://u@a.com/", "http://a.com:99999/",
    ])
    func otherURLsHaveNoOriginToTrust(text: String) throws {
        let url = try #require(URL(string: text))
        #expect(throws: AddressPolicyError.self) { try AddressPolicy.origin(of: url) }
    }

    @Test func trustedOriginAddsToThePolicy() throws {
        let url = try #require(URL(string: "http://127.0.0.1:8080/"))
        let policy = try AddressPolicy(hosts: ["example.com"]).trusting(originOf: url)
        #expect(try rule("http://127.0.0.1:8080/x", policy) == nil)
        #expect(try rule("http://127.0.0.1:8081/", policy) == .hostNotAllowed)
        #expect(try rule("http://example.com/", policy) == nil)
        #expect(policy.checksAddresses)
        #expect(!policy.checksAddresses(of: url))
        #expect(try policy.checksAddresses(of: #require(URL(string: "http://example.com/"))))
        #expect(try addressRule("127.0.0.1", policy) == .loopback)
    }

    @Test func policyThatAllowsNoHostsChecksNoAddresses() throws {
        #expect(try !AddressPolicy(hosts: []).checksAddresses)
        #expect(AddressPolicy.publicInternet.checksAddresses)
    }

    @Test func ruleNamesAreStable() {
        #expect(AddressRefusal.Rule.loopback.name == "loopback")
        #expect("\(AddressRefusal.Rule.cloudMetadata)" == "cloudMetadata")
    }

    @Test func defaultsAreThoseOfThePublicInternet() throws {
        #expect(try AddressPolicy() == .publicInternet)
        #expect(AddressPolicy.publicInternet.schemes == [.https, .http])
        #expect(AddressPolicy.publicInternet.ports == [443, 80])
        #expect(AddressPolicy.publicInternet.allowedBlocks.isEmpty)
    }
}
