import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Redirects of guarded clients. They pass the same checks as requests.
@Suite(.timeLimit(.minutes(5)))
struct GuardedRedirectTests {
    private let publicAddress: IPAddress
    private let privateAddress: IPAddress

    init() throws {
        publicAddress = try #require(IPAddress("93.184.216.34"))
        privateAddress = try #require(IPAddress("10.1.2.3"))
    }

    /// Returns a client of a network where the names of `internal.example.com` resolve to a private address. Requests for `/go`
    /// are redirected.
    private func network(to location: @escaping @Sendable () -> String) -> NetworkDataFetcher {
        let resolver = StubHostResolver { [publicAddress, privateAddress] host, _ throws(HostResolutionError) in
            [host.hasSuffix("internal.example.com") ? privateAddress : publicAddress]
        }
        return NetworkDataFetcher(resolver: resolver) { connection throws(FetchError) in
            guard connection.request.url.path() == "/go" else { return DataResponse(body: Data("x".utf8)) }
            return DataResponse(status: 302, headerFields: [HeaderField(.location, location())])
        }
    }

    private func start(_ scheme: String = "http") throws -> DataRequest { try .example("\(scheme)://example.com/go") }

    @Test func redirectToAnAllowedAddressIsFollowed() async throws {
        let network = network { "http://example.org/b" }
        let response = try await network.guarding(with: .publicInternet).fetch(start())
        #expect(response.body == Data("x".utf8))
        #expect(network.connections.map { $0.request.url.host() } == ["example.com", "example.org"])
    }

    @Test(
        arguments: [
            ("http://internal.example.com/", .privateUse), ("//internal.example.com/", .privateUse),
            ("http://127.0.0.1/", .loopback), ("http://169.254.169.254/latest/meta-data/", .cloudMetadata),
            ("http://[::1]/", .loopback), ("http://localhost/", .specialUseName), ("http://2130706433/", .numericHost),
            ("http://example.org:22/", .port), ("http://user:secret@example.org/", .userInformation),
            ("http://@example.com/", .userInformation),
        ] as [(String, AddressRefusal.Rule)]
    )
    func redirectToARefusedAddressIsNotFollowed(location: String, rule: AddressRefusal.Rule) async throws {
        let network = network { location }
        let error = try await network.guarding(with: .publicInternet).failure(start())
        #expect(error?.reason == .addressRefused)
        #expect(error?.addressRefusal?.rule == rule)
        #expect(error?.wasSent == false)
        #expect(error?.description.contains("secret") == false)
        #expect(network.connections.count == 1)
    }

    @Test func schemeOfARedirectIsChecked() async throws {
        let secure = try AddressPolicy(schemes: [.http])
        let network = network { "https://example.com/b" }
        #expect(try await network.guarding(with: secure).failure(start())?.addressRefusal?.rule == .scheme)
        #expect(network.connections.count == 1)
    }

    /// Locations that are not web URLs are returned, and never followed.
    @Test(arguments: ["file:///etc/passwd", "gopher://127.0.0.1/", "ftp://example.com/", "data:,x", "javascript:x"])
    func redirectToAnotherSchemeIsReturned(location: String) async throws {
        let network = network { location }
        let response = try await network.guarding(with: .publicInternet).fetch(start())
        #expect(response.status == 302)
        #expect(network.connections.count == 1)
    }

    @Test func noHostileSpellingPassesInARedirect() async throws {
        for host in HostileSpellings.hosts {
            let network = network { "http://\(host)/" }
            let client = try network.guarding(with: .publicInternet)
            // Text that is not a URL, or not one of the web, is returned in the response.
            let reason = try await client.reason(start())
            #expect([.addressRefused, .tooLarge, nil].contains(reason), "\(host.debugDescription)")
            #expect(network.connections.count == 1, "\(host.debugDescription)")
        }
    }

    @Test func redirectsAreCounted() async throws {
        let network = network { "/go" }
        #expect(try await network.guarding(with: .publicInternet).reason(start()) == .tooManyRedirects)
        #expect(network.connections.count == 6)
    }

    @Test func redirectFromHTTPSToHTTPIsNotFollowed() async throws {
        let network = network { "http://example.com/b" }
        #expect(try await network.guarding(with: .publicInternet).reason(start("https")) == .untrusted)
        #expect(network.connections.count == 1)
    }

    @Test(arguments: [
        ("http://example.com/b", true), ("http://example.org/b", false), ("https://example.com/b", false),
    ])
    func credentialsStayWithTheirOrigin(location: String, hasCredentials: Bool) async throws {
        let network = network { location }
        let request = try start()
        let client = try network.authorizing(with: .bearer("token"), for: request.url, allowingPlainHTTP: true)
            .guarding(with: .publicInternet)
        _ = try await client.fetch(request)
        let fields = network.connections.map { $0.request.headerFields[.authorization] }
        #expect(fields == ["Bearer token", hasCredentials ? "Bearer token" : nil])
    }
}
