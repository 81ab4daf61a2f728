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

/// What a guarded pipeline sends. `GuardedRedirectTests` has the redirects.
@Suite(.timeLimit(.minutes(5)))
struct GuardingDataFetcherTests {
    private let publicAddress: IPAddress
    private let privateAddress: IPAddress

    init() throws {
        publicAddress = try #require(IPAddress("93.184.216.34"))
        privateAddress = try #require(IPAddress("10.1.2.3"))
    }

    private func network(_ resolver: any HostResolver) -> NetworkDataFetcher {
        NetworkDataFetcher(resolver: resolver) { _ throws(FetchError) in DataResponse() }
    }

    /// Requests to names of the internet are sent to the address that was checked.
    @Test func allowedRequestIsSentToTheCheckedAddress() async throws {
        let network = network(StubHostResolver([publicAddress]))
        let request = try DataRequest.example("https://example.com/a")
        _ = try await network.guarding(with: .publicInternet).fetch(request)
        #expect(network.connections.map(\.address) == [publicAddress])
    }

    @Test func noHostileSpellingPasses() async throws {
        let resolver = StubHostResolver([publicAddress])
        let network = network(resolver)
        let client = try network.guarding(with: .publicInternet)
        // Without the layer that checks URLs early, so that the client has to.
        let inner = client.base
        var count = 0
        for host in HostileSpellings.hosts {
            for text in [
                "http://\(host)/", "https://\(host)/a?b=c", "HTTP://\(host)#d", "http://\(host)?@example.com/",
            ] {
                guard let url = URL(string: text) else { continue }
                count += 1
                #expect(await client.reason(DataRequest(url: url)) == .addressRefused, "\(text.debugDescription)")
                let reason = await inner.reason(DataRequest(url: url))
                #expect(reason == .addressRefused || reason == .invalidRequest, "\(text.debugDescription)")
            }
        }
        #expect(count >= 1_000)
        #expect(network.connections.isEmpty)
        #expect(resolver.lookups.isEmpty)
    }

    /// The first answer is public, and all later ones are not.
    @Test func changingAnswersDivertNoConnection() async throws {
        let resolver = StubHostResolver { [publicAddress, privateAddress] _, count throws(HostResolutionError) in
            [count == 1 ? publicAddress : privateAddress]
        }
        let network = network(resolver)
        let client = try network.guarding(with: .publicInternet)
        let request = try DataRequest.example("http://rebinding.example.com/")
        _ = try await client.fetch(request)
        #expect(resolver.lookups.count == 1)
        for _ in 0..<10 { #expect(await client.reason(request) == .addressRefused) }
        #expect(network.connections.map(\.address) == [publicAddress])
    }

    @Test func oneRefusedAddressOfManyRefusesTheRequest() async throws {
        for position in 0...3 {
            var addresses = [publicAddress, publicAddress, publicAddress]
            addresses.insert(privateAddress, at: position)
            let network = network(StubHostResolver(addresses))
            let error = try await network.guarding(with: .publicInternet).failure(.example("http://example.com/"))
            #expect(error?.addressRefusal?.rule == .privateUse)
            #expect(network.connections.isEmpty)
        }
    }

    @Test func refusalNamesTheRuleButNoAddress() async throws {
        let client = try network(StubHostResolver([privateAddress])).guarding(with: .publicInternet)
        let error = try #require(await client.failure(.example("http://Shop.example.com/a?token=s3cret")))
        #expect(
            error.description == """
                GET http://Shop.example.com/a?token=… was not sent: the host "Shop.example.com" was refused because it leads to \
                a private network (privateUse)
                """
        )
        #expect(error.reason == .addressRefused)
        #expect(!error.wasSent && !error.canRetry && !error.leavesOutcomeUnknown)
        #expect(ProblemDetails(error) == .refused)
        #expect(RepositoryError.Reason(error) == .unavailable)
    }

    @Test func trustedOriginIsNotLookedUp() async throws {
        let resolver = StubHostResolver([privateAddress])
        let network = network(resolver)
        let upstream = try DataRequest.example("http://orders.internal:8080/api").url
        let client = try network.guarding(with: AddressPolicy.publicInternet.trusting(originOf: upstream))
        _ = try await client.fetch(DataRequest(url: upstream))
        // This lookup is the connection's.
        #expect(resolver.lookups == ["orders.internal"])
        #expect(try await client.failure(.example("http://orders.internal/"))?.addressRefusal?.rule == .specialUseName)
        #expect(try await client.failure(.example("http://example.com/"))?.addressRefusal?.rule == .privateUse)
    }

    @Test func policiesOfSeveralGuardsAddUp() async throws {
        let network = network(StubHostResolver([publicAddress]))
        let http = try network.guarding(with: AddressPolicy(schemes: [.http]))
        let both = try http.guarding(with: AddressPolicy(hosts: ["example.com"]))
        #expect(try await both.failure(.example("http://example.com/")) == nil)
        #expect(try await both.failure(.example("https://example.com/"))?.addressRefusal?.rule == .scheme)
        #expect(try await both.failure(.example("http://example.org/"))?.addressRefusal?.rule == .hostNotAllowed)
    }

    @Test func refusalsAreNeitherRetriedNorCountedAsFailures() async throws {
        let resolver = StubHostResolver([privateAddress])
        let breaker = CircuitBreaker(policy: CircuitBreakerPolicy(minimumCalls: 1))
        let client = network(resolver).breakingCircuit(breaker).retrying(RetryPolicy(attempts: 3, baseDelay: .zero))
            .fallingBack(to: DataResponse())
        let guarded = try client.guarding(with: .publicInternet)
        for count in 1...20 {
            let error = try await guarded.failure(.example("http://example.com/"))
            #expect(error?.reason == .addressRefused)
            #expect(error?.retries == nil)
            #expect(resolver.lookups.count == count)
        }
        #expect(breaker.state == .closed)
    }

    @Test func waitForALookupEndsWithTheDeadline() async throws {
        let clock = ManualClock()
        let timer = TimerService(clock)
        let answered = Promise<Void>()
        let resolver = StubHostResolver { _, _ throws(HostResolutionError) in
            clock.advance(by: .seconds(1))
            _ = await answered.value(until: nil)
            throw HostResolutionError("was not answered")
        }
        let client = try network(resolver).guarding(with: .publicInternet)
        let request = try DataRequest.example("http://example.com/")
        let error = await Deadline(in: .seconds(1), on: timer).carried { await client.failure(request) }.get()
        answered.fulfill(())
        #expect(error?.reason == .timedOut)
        #expect(error?.wasSent == false)
    }

    @Test func unknownHostIsUnreachable() async throws {
        let resolver = StubHostResolver { _, _ throws(HostResolutionError) in
            throw HostResolutionError("there is no such name")
        }
        let error = try await network(resolver).guarding(with: .publicInternet).failure(.example("http://example.com/"))
        #expect(error?.reason == .unreachable)
        #expect(error?.explanation == "could not reach the host: there is no such name")
        let none = try await network(StubHostResolver([])).guarding(with: .publicInternet).failure(
            .example("http://a.com/")
        )
        #expect(none?.reason == .unreachable)
    }
}
