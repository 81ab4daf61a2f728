#if AsyncHTTPClient
import Foundation
import InwardCore
import InwardFetching
import InwardTesting
import LoopbackServer
import Testing

@testable import InwardAsyncHTTPClient

/// The lifetimes of clients for checked addresses.
@Suite(.timeLimit(.minutes(5)))
struct AsyncHTTPClientsTests {
    private let loopback: IPAddress

    init() throws {
        loopback = try #require(IPAddress("127.0.0.1"))
    }

    private func clients(keepingAtMost limit: Int) -> AsyncHTTPClients {
        let configuration = AsyncHTTPClientDataFetcher.clientConfiguration(
            connectTimeout: .seconds(30),
            bodyLimit: 1_000,
            connectionsPerHost: 4
        )
        return AsyncHTTPClients(configuration, keepingAtMost: limit)
    }

    private func guarded(_ clients: AsyncHTTPClients, _ server: LoopbackServer) throws -> any DataFetcher {
        let policy = try AddressPolicy(ports: [server.port], allowing: [.ipv4Loopback])
        let resolver = StubHostResolver([loopback])
        return try AsyncHTTPClientDataFetcher(clients, idleTimeout: .seconds(600), resolver: resolver).guarding(
            with: policy
        )
    }

    private func request(_ number: Int, _ server: LoopbackServer) throws -> DataRequest {
        DataRequest(url: try #require(URL(string: "http://host\(number).example.com:\(server.port)/a")))
    }

    @Test func idleClientsAreRemovedBeyondTheLimit() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let clients = clients(keepingAtMost: 3)
            let fetcher = try guarded(clients, server)
            for number in [1, 2, 3, 1, 4, 1] { _ = try await fetcher.fetch(request(number, server)) }
            #expect(clients.pinnedCount == 3)
            // The first was used more recently than the second, so it kept its connection.
            #expect(server.connectionCount == 4)
            _ = try await fetcher.fetch(request(2, server))
            #expect(server.connectionCount == 5)
            try await clients.close()
        }
    }

    @Test func clientsInUseAreKeptBeyondTheLimit() async throws {
        let gate = LoopbackGate()
        try await LoopbackServer.serving({ _ in .held(at: gate, .whole()) }) { server in
            let clients = clients(keepingAtMost: 2)
            let fetcher = try guarded(clients, server)
            var events = server.events.makeAsyncIterator()
            try await withThrowingTaskGroup { group in
                for number in 0..<5 {
                    let request = try request(number, server)
                    group.addTask { try await fetcher.fetch(request).status }
                }
                for _ in 0..<5 { #expect(await events.next() == .waiting("/a")) }
                #expect(clients.pinnedCount == 5)
                gate.open(5)
                for try await status in group { #expect(status == .ok) }
            }
            #expect(clients.pinnedCount == 2)
            try await clients.close()
        }
    }

    @Test func closingTheFetcherClosesItsGuardedFetchers() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let fetcher = AsyncHTTPClientDataFetcher(resolver: StubHostResolver([loopback]))
            let policy = try AddressPolicy(ports: [server.port], allowing: [.ipv4Loopback])
            let guarded = try fetcher.guarding(with: policy)
            _ = try await guarded.fetch(request(1, server))
            try await fetcher.close()
            try await fetcher.close()
            let error = await #expect(throws: FetchError.self) { try await guarded.fetch(request(1, server)) }
            #expect(error?.reason == .closed)
            #expect(server.requests.count == 1)
        }
    }

    @Test func guardedFetcherOutlivesTheOriginal() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let policy = try AddressPolicy(ports: [server.port], allowing: [.ipv4Loopback])
            let resolver = StubHostResolver([loopback])
            let guarded = try AsyncHTTPClientDataFetcher(resolver: resolver).guarding(with: policy)
            #expect(try await guarded.fetch(request(1, server)).status == .ok)
        }
    }

    @Test func systemResolverFindsThisMachine() async throws {
        let addresses = try await SystemHostResolver().addresses(of: "localhost")
        #expect(!addresses.isEmpty)
        for address in addresses {
            #expect(IPAddressBlock.ipv4Loopback.contains(address) || IPAddressBlock.ipv6Loopback.contains(address))
        }
        #expect(Set(addresses).count == addresses.count)
    }

    @Test func systemResolverReportsUnknownNames() async {
        let error = await #expect(throws: HostResolutionError.self) {
            try await SystemHostResolver().addresses(of: "name.invalid")
        }
        #expect(error?.description.isEmpty == false)
    }

    @Test func systemResolverDoesNotWaitPastTheDeadline() async {
        let timer = TimerService(ManualClock())
        let result = await Deadline(in: .zero, on: timer).carried {
            await Result { () async throws(HostResolutionError) in
                try await SystemHostResolver().addresses(of: "name.invalid")
            }
        }.get()
        #expect(throws: HostResolutionError.self) { try result.get() }
    }
}
#endif
