import Testing

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct WebOriginTests {
    private func origin(_ address: String) throws -> WebOrigin { WebOrigin(try #require(URL(string: address))) }

    @Test(arguments: ["HTTPS://EXAMPLE.org", "https://example.org:443/x", "https://ada:own@%65xample.org/?a#b"])
    func equivalentURLsHaveTheSameOrigin(address: String) throws {
        #expect(try origin(address) == origin("https://example.org/"))
    }

    @Test(arguments: [
        "http://example.org/", "https://example.org:80/", "https://example.org./", "https://www.example.org/",
    ])
    func differentSchemesHostsOrPortsAreDifferentOrigins(address: String) throws {
        #expect(try origin(address) != origin("https://example.org/"))
    }

    /// Credentials for one of them must not be sent to the other.
    @Test func hostsWithInvalidEscapesDiffer() throws {
        #expect(try origin("https://%97a.test/") != origin("https://%97b.test/"))
        #expect(try origin("https://%97a.test/") == origin("https://%97A.test/"))
    }

    /// Only plain HTTP to another machine can be read on the network path.
    @Test(arguments: [
        ("http://example.org/", true), ("https://example.org/", false), ("http://localhost:80/", false),
        ("http://LOCALHOST/", false), ("http://127.0.0.1/", false), ("http://127.255.3.4:8080/", false),
        ("http://[::1]/", false), ("http://128.0.0.1/", true), ("http://127.0.0.256/", true),
        ("http://127.0.0.01/", true),
        ("http://127.0..1/", true), ("http://127.0..0.1/", true), ("http://127.0.0.1./", true),
        ("http://127.0.0/", true),
        ("http://localhost.example.org/", true), ("http:example", true),
    ])
    func plainHTTPToAnotherMachineIsExposed(address: String, isExposed: Bool) throws {
        #expect(try origin(address).isExposed == isExposed)
    }

    @Test func onlyASCIILettersAreFolded() throws {
        // The Kelvin sign, whose lower case is a k.
        #expect(try origin("https://%E2%84%AA.test/") != origin("https://k.test/"))
        #expect(try origin("https://A-Z.test/") == origin("https://a-z.test/"))
    }
}
