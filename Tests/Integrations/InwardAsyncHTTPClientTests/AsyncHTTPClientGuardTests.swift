#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import InwardFetching
import InwardTesting
import LoopbackServer
import NIOSSL
import Testing

@testable import InwardAsyncHTTPClient

/// Connections of guarded fetchers, which lead only to addresses that were checked.
@Suite(.timeLimit(.minutes(5)))
struct AsyncHTTPClientGuardTests {
    private let loopback: IPAddress
    /// Another address of this machine, on which no server listens.
    private let other: IPAddress
    private let privateAddress: IPAddress

    init() throws {
        loopback = try #require(IPAddress("127.0.0.1"))
        other = try #require(IPAddress("127.0.0.2"))
        privateAddress = try #require(IPAddress("10.1.2.3"))
    }

    /// Returns a policy for names at the port of a server, and for addresses of this machine.
    private func policy(_ server: LoopbackServer, _ hosts: Set<String>? = nil) throws -> AddressPolicy {
        try AddressPolicy(ports: [server.port], hosts: hosts, allowing: [.ipv4Loopback])
    }

    private func request(to host: String, _ server: LoopbackServer, _ path: String = "a") throws -> DataRequest {
        DataRequest(url: try #require(URL(string: "http://\(host):\(server.port)/\(path)")))
    }

    private func error(_ fetcher: any DataFetcher, _ request: DataRequest) async -> FetchError? {
        await #expect(throws: FetchError.self) { try await fetcher.fetch(request) }
    }

    @Test func fetcherConforms() async throws {
        let upstream = ConformanceUpstream()
        try await LoopbackServer.serving({ LoopbackAnswer(to: $0, of: upstream) }) { server in
            try await AddressGuardConformance(server: server.url()) { resolver in
                AsyncHTTPClientDataFetcher(resolver: resolver)
            }.check()
        }
    }

    /// The requirements of every fetcher hold for connections to checked addresses.
    @Test func guardedFetcherConforms() async throws {
        let upstream = ConformanceUpstream()
        try await LoopbackServer.serving({ LoopbackAnswer(to: $0, of: upstream) }) { server in
            let fetcher = AsyncHTTPClientDataFetcher(resolver: StubHostResolver([loopback]))
            let guarded = try fetcher.guarding(with: policy(server)).base
            let url = try request(to: "Guarded.example.com", server, "").url
            let impossible = DataRequest(url: URL(filePath: "/etc/hosts"))
            try await DataFetcherConformance(server: url, impossible: impossible).check(guarded)
        }
    }

    /// The second answer of the resolver leads elsewhere, and nothing asks for it.
    @Test func connectionLeadsToTheCheckedAddress() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let resolver = StubHostResolver { [loopback, other] _, count throws(HostResolutionError) in
                [count == 1 ? loopback : other]
            }
            let fetcher = try AsyncHTTPClientDataFetcher(resolver: resolver).guarding(with: policy(server))
            let request = try request(to: "rebinding.example.com", server)
            #expect(try await fetcher.fetch(request).status == .ok)
            #expect(resolver.lookups == ["rebinding.example.com"])
            #expect(server.requests.first?.values(of: "host") == ["rebinding.example.com:\(server.port)"])
            // No connection is reused for an address that the name no longer has.
            #expect(await error(fetcher, request)?.reason == .unreachable)
            #expect(server.requests.count == 1)
        }
    }

    @Test func changedAnswerIsRefusedAlthoughAConnectionIsOpen() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let resolver = StubHostResolver { [loopback, privateAddress] _, count throws(HostResolutionError) in
                [count == 1 ? loopback : privateAddress]
            }
            let fetcher = try AsyncHTTPClientDataFetcher(resolver: resolver).guarding(with: policy(server))
            let request = try request(to: "rebinding.example.com", server)
            _ = try await fetcher.fetch(request)
            #expect(await error(fetcher, request)?.addressRefusal?.rule == .privateUse)
            #expect(server.requests.count == 1)
        }
    }

    @Test func nextCheckedAddressIsTriedIfOneCannotBeReached() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let resolver = StubHostResolver([other, loopback])
            let fetcher = try AsyncHTTPClientDataFetcher(resolver: resolver).guarding(with: policy(server))
            #expect(try await fetcher.fetch(request(to: "two.example.com", server)).status == .ok)
            #expect(server.requests.count == 1)
        }
    }

    @Test func connectionsAreReused() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let fetcher = AsyncHTTPClientDataFetcher(resolver: StubHostResolver([loopback]))
            let first = try fetcher.guarding(with: policy(server))
            let second = try fetcher.guarding(with: policy(server, ["a.example.com"]))
            for fetcher in [first, second, first] {
                _ = try await fetcher.fetch(request(to: "a.example.com", server))
            }
            #expect(server.connectionCount == 1)
            _ = try await first.fetch(request(to: "127.0.0.1", server))
            _ = try await first.fetch(request(to: "b.example.com", server))
            #expect(server.connectionCount == 3)
        }
    }

    @Test func redirectToARefusedAddressOpensNoConnection() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { internalServer in
            let location = "http://127.0.0.1:\(internalServer.port)/secret"
            try await LoopbackServer.serving({ _ in .whole(status: 302, headerLines: ["Location: \(location)"]) }) {
                server in
                let fetcher = AsyncHTTPClientDataFetcher(resolver: StubHostResolver([loopback]))
                let guarded = try fetcher.guarding(with: policy(server, ["a.example.com"]))
                #expect(try await error(guarded, request(to: "a.example.com", server))?.reason == .addressRefused)
                #expect(server.requests.count == 1)
                #expect(internalServer.connectionCount == 0)
            }
        }
    }

    /// Spellings of this machine that programs read differently.
    @Test func noSpellingOfTheServerPasses() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let resolver = StubHostResolver([loopback])
            let fetcher = try AsyncHTTPClientDataFetcher(resolver: resolver).guarding(
                with: AddressPolicy(ports: [server.port])
            )
            for host in [
                "127.0.0.1", "localhost", "LOCALHOST", "localhost.", "127.1", "127.0.1", "2130706433", "0x7f000001",
                "0x7f.1",
                "017700000001", "0177.0.0.1", "127.000.000.001", "127.0.0.1.", "0", "0.0.0.0", "[::1]", "[::]",
                "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "%6cocalhost", "127%2e0.0.1",
                "user@127.0.0.1", "example.com@127.0.0.1", "named.example.com", "①②⑦.⓪.⓪.①", "127。0。0。1",
            ] {
                guard let url = URL(string: "http://\(host):\(server.port)/") else { continue }
                for fetcher in [fetcher, fetcher.base] {
                    #expect(await error(fetcher, DataRequest(url: url))?.reason == .addressRefused, "\(host)")
                }
            }
            #expect(server.connectionCount == 0)
        }
    }

    @Test func certificateMustBeThatOfTheName() async throws {
        try await TLSServer.serving { server in
            let port = try #require(URL(string: server.address)?.port)
            let policy = try AddressPolicy(
                ports: [port],
                hosts: ["localhost", "a.example.com"],
                allowing: [.ipv4Loopback]
            )
            var configuration = AsyncHTTPClientDataFetcher.clientConfiguration(
                connectTimeout: .seconds(30),
                bodyLimit: 1_000,
                connectionsPerHost: 4
            )
            configuration.tlsConfiguration?.trustRoots = .certificates([try TLSServer.certificate])
            let clients = AsyncHTTPClients(configuration)
            let resolver = StubHostResolver([loopback])
            let fetcher = try AsyncHTTPClientDataFetcher(clients, resolver: resolver).guarding(with: policy)
            let url = try #require(URL(string: server.address))
            #expect(try await fetcher.fetch(DataRequest(url: url)).status == .ok)
            // The same address under another name.
            let other = try #require(URL(string: "https://a.example.com:\(port)/"))
            #expect(await error(fetcher, DataRequest(url: other))?.reason == .untrusted)
            #expect(server.requestCount == 1)
            try await clients.close()
        }
    }

    @Test func trustedOriginIsNotLookedUpByTheGuard() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let resolver = StubHostResolver([privateAddress])
            let policy = try AddressPolicy.origin(of: server.url())
            let fetcher = try AsyncHTTPClientDataFetcher(resolver: resolver).guarding(with: policy)
            #expect(try await fetcher.fetch(DataRequest(url: server.url("a"))).status == .ok)
            #expect(resolver.lookups.isEmpty)
        }
    }

    @Test func clientOfTheCallerCannotBeGuarded() async throws {
        let client = HTTPClient()
        let fetcher = AsyncHTTPClientDataFetcher(client: client)
        let error = #expect(throws: AddressPolicyError.self) { try fetcher.guarding(with: .publicInternet) }
        #expect(error?.description.hasSuffix("Create the fetcher without a client.") == true)
        try await client.shutdown()
    }
}
#endif
