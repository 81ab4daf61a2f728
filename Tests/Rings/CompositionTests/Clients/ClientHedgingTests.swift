import Foundation
import InwardCore
import InwardFetching
import InwardTesting
import LoopbackServer
import Testing

/// Hedged requests to a real server.
@Suite(.timeLimit(.minutes(5)))
struct ClientHedgingTests {
    private let clock = ManualClock()
    private let timer: TimerService

    init() {
        timer = TimerService(clock)
    }

    private func hedging(_ client: TestedClient) -> any DataFetcher {
        client.makeFetcher().hedging(after: .fixed(.seconds(1)), upTo: 1, timer: timer)
    }

    @Test(
        arguments: TestedClient.allCases,
        [LoopbackAnswer.never, .begun(Array("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello".utf8))]
    )
    func hangingFirstAttemptIsAbandoned(client: TestedClient, silence: LoopbackAnswer) async throws {
        try await LoopbackServer.serving(inTurn: [silence, .whole(body: Array("x".utf8))]) { server in
            var events = server.events.makeAsyncIterator()
            let fetcher = hedging(client)
            async let response = fetcher.fetch(DataRequest(url: server.url("x")))
            #expect(await events.next() == .waiting("/x"))
            await timer.timers(1)
            clock.advance(by: .seconds(1))
            let given = try await response
            #expect(given.body == Data("x".utf8))
            #expect(await events.next() == .abandoned("/x"))
            #expect(server.requests.count == 2)
            #expect(server.connectionCount == 2)
        }
        #expect(timer.count == 0)
    }

    @Test(arguments: TestedClient.allCases)
    func unneededSecondAttemptIsAbandoned(client: TestedClient) async throws {
        let gate = LoopbackGate()
        let first = LoopbackAnswer.held(at: gate, .whole(body: Array("x".utf8)))
        try await LoopbackServer.serving(inTurn: [first, .never]) { server in
            var events = server.events.makeAsyncIterator()
            let fetcher = hedging(client)
            async let response = fetcher.fetch(DataRequest(url: server.url("x")))
            #expect(await events.next() == .waiting("/x"))
            await timer.timers(1)
            clock.advance(by: .seconds(1))
            #expect(await events.next() == .waiting("/x"))
            gate.open()
            let given = try await response
            #expect(given.body == Data("x".utf8))
            #expect(await events.next() == .abandoned("/x"))
        }
    }

    @Test(arguments: TestedClient.allCases)
    func cancellationEndsBothAttempts(client: TestedClient) async throws {
        try await LoopbackServer.serving({ _ in .never }) { server in
            var events = server.events.makeAsyncIterator()
            let fetcher = hedging(client)
            await withTaskGroup { group in
                group.addTask { await fetcher.failure(DataRequest(url: server.url("x")))?.reason }
                #expect(await events.next() == .waiting("/x"))
                await timer.timers(1)
                clock.advance(by: .seconds(1))
                #expect(await events.next() == .waiting("/x"))
                group.cancelAll()
                #expect(await group.next() == .cancelled)
                for _ in 0..<2 { #expect(await events.next() == .abandoned("/x")) }
            }
        }
    }

    @Test(arguments: TestedClient.allCases)
    func writeIsNotHedged(client: TestedClient) async throws {
        let gate = LoopbackGate()
        try await LoopbackServer.serving({ _ in .held(at: gate, .whole()) }) { server in
            var events = server.events.makeAsyncIterator()
            let fetcher = hedging(client)
            let request = DataRequest(method: .post, url: server.url("x"), body: Data("{}".utf8))
            async let response = fetcher.fetch(request)
            #expect(await events.next() == .waiting("/x"))
            #expect(timer.count == 0)
            clock.advance(by: .seconds(1))
            gate.open()
            let given = try await response
            #expect(given.status == .ok)
            #expect(server.requests.count == 1)
        }
    }
}
