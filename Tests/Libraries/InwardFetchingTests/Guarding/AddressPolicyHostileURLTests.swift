import Testing

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct AddressPolicyHostileURLTests {
    /// Returns whether the policy for the public internet refuses a URL. Text that is not a URL counts as refused.
    private func isRefused(_ text: String) -> Bool {
        guard let url = URL(string: text) else { return true }
        return (try? AddressPolicy.publicInternet.check(url)) == nil
    }

    @Test func hostileSpellingsAreRefused() {
        let hosts = HostileSpellings.hosts
        #expect(Set(hosts).count >= 300)
        for host in hosts {
            for text in [
                "http://\(host)", "https://\(host)/path?query=1", "HTTP://\(host)#fragment",
                "http://\(host)?@example.com/",
            ] {
                #expect(isRefused(text), "\(text.debugDescription)")
            }
        }
    }

    /// If this fails, `URL` accepts so few of the texts that the test above tests `URL` rather than the policy.
    @Test func mostHostileSpellingsAreURLs() {
        let urls = Set(HostileSpellings.hosts).compactMap { URL(string: "http://\($0)/") }
        #expect(urls.count >= 300)
    }

    /// The spelling itself is judged too, because `URL` of another platform may keep what this one refuses or maps.
    @Test func hostileSpellingsOfPublicNamesAreRefusedWithoutURL() {
        for host in [
            "ｅxample.com", "exämple.com", "e\u{AD}xample.com", "example。com", "８.８.８.８", "exa mple.com",
            "exa\0mple.com",
        ] {
            #expect(throws: AddressRefusal(.hostCharacter, host: host)) {
                try host.withBytes { bytes throws(AddressRefusal) in try WebHost(bytes) }
            }
        }
    }

    @Test(arguments: [
        ("http://a.com", "a.com", 80, false), ("https://a.com", "a.com", 443, false),
        ("HTTP://a.com:8080/", "a.com", 8080, false), ("http://a.com:0/", "a.com", 0, false),
        ("http://a.com:65535/", "a.com", 65_535, false), ("http://a.com:65536/", "a.com", nil, false),
        ("http://a.com:080/", "a.com", nil, false), ("http://a.com:+80/", "a.com", nil, false),
        ("http://a.com:99999999999999999999/", "a.com", nil, false), ("http://a.com:/", "a.com", nil, false),
        ("http://a.com:80:81?", "a.com", nil, false), ("http://[::1]#", "[::1]", 80, false),
        ("http://[::1]:81/", "[::1]", 81, false), ("http://[::1].a.com:81/", "[::1].a.com", 81, false),
        ("http://[::1/", "[", nil, false), ("http://::1/", "", nil, false), ("http://u@a.com/", "a.com", 80, true),
        ("http://@a.com/", "a.com", 80, true), ("http://u:p@b@[::1]:8/", "[::1]", 8, true),
        ("http://a.com\\@b.com/", "b.com", 80, true), ("http://a.com\\b/", "a.com\\b", 80, false),
        ("http:a.com", "", 80, false), ("http:/a.com", "", 80, false), ("a.com", "", nil, false),
        ("", "", nil, false), ("://a.com", "a.com", nil, false), (":", "", nil, false), ("http:", "", 80, false),
        ("http://", "", 80, false), ("http://[", "[", 80, false), ("http://?a.com", "", 80, false),
        ("http:\\\\a.com", "", 80, false), ("http", "", nil, false), ("//a.com", "", nil, false),
        ("http://a[::1]:80/", "a[", nil, false), ("http://a.com/@b", "a.com", 80, false),
        ("http://a.com?@b", "a.com", 80, false), ("http://a.com#@b", "a.com", 80, false),
    ])
    func partsAreReadFromTheText(text: String, host: String, port: Int?, hasUserInformation: Bool) {
        let target = URLTarget(text)
        #expect(target.hostText ?? "" == host)
        #expect(target.port == port)
        #expect(target.hasUserInformation == hasUserInformation)
    }

    /// Digits of other scripts have no ASCII form, so that such hosts are names, which no resolver reads as an address.
    @Test func digitsOfOtherScriptsDoNotBecomeAddresses() throws {
        for host in ["१२७.०.०.१", "১২৭.০.০.১", "๑๒๗.๐.๐.๑"] {
            guard let url = URL(string: "http://\(host)/") else { continue }
            guard (try? AddressPolicy.publicInternet.check(url)) != nil else { continue }
            let labels = try #require(URLTarget(url).hostText).split(separator: ".")
            #expect(labels.allSatisfy { $0.hasPrefix("xn--") }, "\(url)")
        }
    }

    @Test(arguments: [
        "", "/", "example.com", "//example.com/", "http:", "http:/", "http://", "http:///", "http:example.com",
        "http:/example.com",
        "http:///example.com", "http:\\\\example.com", "file:///etc/passwd", "file://example.com/",
        "ftp://example.com/",
        "gopher://example.com/", "dict://example.com:443/", "ldap://example.com:443/", "javascript:alert(1)", "data:,x",
        "jar:http://example.com!/", "httpx://example.com/", "xhttp://example.com/", "http+unix://example.com/",
        "view-source:http://example.com/", "ws://example.com/", "mailto:a@example.com", "http//example.com",
        "?http://example.com/",
        "http:?//example.com/", "http:#//example.com/", "h%74tp://example.com/",
    ])
    func otherSchemesAndFormsAreRefused(text: String) {
        #expect(isRefused(text))
    }

    @Test(
        arguments: [
            ("ftp://example.com/", .scheme), ("//example.com/", .scheme), ("http:///x", .missingHost),
            ("http:x", .missingHost),
            ("http://:80/", .missingHost), ("http://user@example.com/", .userInformation),
            ("http://@example.com/", .userInformation),
            ("http://example.com:8080/", .port), ("http://example.com:/", .port), ("http://example.com:080/", .port),
            ("http://example.com:18446744073709551696/", .port), ("http://exa%6dple.com/", .percentEncodedHost),
            ("http://[fe80::1%25eth0]/", .zoneIdentifier), ("http://[0::1]/", .addressSpelling),
            ("http://[8.8.8.8]/", .addressSpelling),
            ("http://2130706433/", .numericHost),
            ("http://127.1/", .numericHost), ("http://a.0Xyz/", .numericHost), ("http://08.8.8.8/", .numericHost),
            ("http://a,b.com/", .hostCharacter), ("http://example.com./", .emptyLabel), ("http://a..com/", .emptyLabel),
            ("http://localhost/", .specialUseName), ("http://a.INTERNAL/", .specialUseName),
            ("http://intranet2/", .singleLabelName),
            ("http://127.0.0.1/", .loopback), ("http://[::1]/", .loopback), ("http://169.254.169.254/", .cloudMetadata),
            ("http://[::ffff:10.0.0.1]/", .privateUse), ("http://[64:ff9b::808:808]/", .nat64),
            ("http://\(String(repeating: "a", count: 64)).com/", .hostLength),
        ] as [(String, AddressRefusal.Rule)]
    )
    func refusalsNameTheRule(text: String, rule: AddressRefusal.Rule) throws {
        let url = try #require(URL(string: text))
        let refusal = #expect(throws: AddressRefusal.self) { try AddressPolicy.publicInternet.check(url) }
        #expect(refusal?.rule == rule)
    }

    @Test(arguments: [
        (
            "http://LocalHost/",
            "The host \"LocalHost\" was refused because names like this are not on the public internet (specialUseName)."
        ),
        ("http://[::1]:80/", "The host \"[::1]\" was refused because it leads to this machine (loopback)."),
        (
            "ftp://ada:s3cret@example.com/",
            "The URL with the host \"example.com\" was refused because its scheme is not allowed (scheme)."
        ),
        ("http:///x", "The URL was refused because it has no host (missingHost)."),
    ])
    func descriptionsNameTheHostAndTheRule(text: String, description: String) throws {
        let url = try #require(URL(string: text))
        let refusal = #expect(throws: AddressRefusal.self) { try AddressPolicy.publicInternet.check(url) }
        #expect(refusal?.description == description)
    }

    @Test func descriptionsDoNotContainResolvedAddresses() throws {
        let address = try #require(IPAddress("10.1.2.3"))
        let named = #expect(throws: AddressRefusal.self) {
            try AddressPolicy.publicInternet.check(address, of: "shop.example.org")
        }
        #expect(
            named?.description
                == "The host \"shop.example.org\" was refused because it leads to a private network (privateUse)."
        )
        let unnamed = #expect(throws: AddressRefusal.self) { try AddressPolicy.publicInternet.check(address) }
        #expect(unnamed?.host == nil)
        #expect(unnamed?.description == "The address was refused because it leads to a private network (privateUse).")
        #expect(named != unnamed)
    }

    @Test func descriptionsShowLongAndInvisibleHostsSafely() throws {
        let address = try #require(IPAddress("10.1.2.3"))
        let host = "\u{1B}[31m" + String(repeating: "x", count: 10_000)
        let refusal = #expect(throws: AddressRefusal.self) { try AddressPolicy.publicInternet.check(address, of: host) }
        let description = try #require(refusal?.description)
        #expect(description.count < 400)
        #expect(description.hasPrefix("The host \"\\u{1B}[31mxxx"))
    }
}
