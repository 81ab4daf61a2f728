import Foundation
import InwardCore
import InwardFetching
import InwardTesting
import LoopbackServer
import Testing

/// What opens and closes the circuit to a real server.
@Suite(.timeLimit(.minutes(5)))
struct ClientCircuitTests {
    private let clock = ManualClock()
    private let breaker: CircuitBreaker

    init() {
        let policy = CircuitBreakerPolicy(minimumCalls: 2, openDuration: .seconds(10), probes: 1)
        breaker = CircuitBreaker("upstream", policy: policy, timer: TimerService(clock))
    }

    @Test(arguments: TestedClient.allCases, [LoopbackAnswer.whole(status: 503), .cutOff(promised: 9, sent: 1)])
    func faultsOpenTheCircuitAndAProbeClosesIt(client: TestedClient, fault: LoopbackAnswer) async throws {
        try await LoopbackServer.serving(inTurn: [fault, fault, .whole()]) { server in
            let fetcher = client.makeFetcher().breakingCircuit(breaker)
            let request = DataRequest(url: server.url())
            for _ in 0..<2 { _ = try? await fetcher.fetch(request) }
            #expect(breaker.state == .open(remaining: .seconds(10)))
            let error = await fetcher.failure(request)
            #expect(error?.reason == .rejected)
            #expect(error?.retryAfter == .delay(.seconds(10)))
            #expect(server.requests.count == 2)
            clock.advance(by: .seconds(10))
            let response = try await fetcher.fetch(request)
            #expect(response.status == .ok)
            #expect(breaker.state == .closed)
            #expect(server.requests.count == 3)
        }
    }

    @Test(arguments: TestedClient.allCases)
    func openCircuitMakesNoConnections(client: TestedClient) async throws {
        try await LoopbackServer.serving(welcoming: { _ in false }, { _ in .whole() }) { server in
            let fetcher = client.makeFetcher().breakingCircuit(breaker)
            let request = DataRequest(url: server.url())
            for _ in 0..<2 { #expect(await fetcher.failure(request)?.reason == .interrupted) }
            #expect(server.connectionCount == 2)
            for _ in 0..<20 { #expect(await fetcher.failure(request)?.reason == .rejected) }
            #expect(server.connectionCount == 2)
        }
    }

    @Test(arguments: TestedClient.allCases)
    func unreachableUpstreamOpensTheCircuitAndAFailedProbeReopensIt(client: TestedClient) async throws {
        try await LoopbackServer.refusing { port in
            let request = DataRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)/")))
            let fetcher = client.makeFetcher().breakingCircuit(breaker)
            for _ in 0..<2 { #expect(await fetcher.failure(request)?.reason == .unreachable) }
            #expect(await fetcher.failure(request)?.reason == .rejected)
            clock.advance(by: .seconds(10))
            #expect(await fetcher.failure(request)?.reason == .unreachable)
            #expect(breaker.state == .open(remaining: .seconds(20)))
        }
    }

    @Test(arguments: TestedClient.allCases)
    func cancelledProbeReturnsItsPermit(client: TestedClient) async throws {
        try await LoopbackServer.serving(inTurn: [.raw([]), .raw([]), .never, .whole()]) { server in
            var events = server.events.makeAsyncIterator()
            let fetcher = client.makeFetcher().breakingCircuit(breaker)
            let request = DataRequest(url: server.url("x"))
            for _ in 0..<2 { _ = try? await fetcher.fetch(request) }
            clock.advance(by: .seconds(10))
            await withTaskGroup { group in
                group.addTask { await fetcher.failure(request)?.reason }
                #expect(await events.next() == .waiting("/x"))
                #expect(breaker.state == .halfOpen)
                #expect(await fetcher.failure(request)?.reason == .rejected)
                group.cancelAll()
                #expect(await group.next() == .cancelled)
                #expect(await events.next() == .abandoned("/x"))
            }
            #expect(breaker.state == .halfOpen)
            let response = try await fetcher.fetch(request)
            #expect(response.status == .ok)
            #expect(breaker.state == .closed)
            #expect(server.requests.count == 4)
        }
    }
}
