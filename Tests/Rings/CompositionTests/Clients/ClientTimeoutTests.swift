import InwardCore
import InwardFetching
import InwardTesting
import LoopbackServer
import Testing

/// Timeouts that apply to the whole exchange, regardless of which part of the response is missing.
@Suite(.timeLimit(.minutes(5)))
struct ClientTimeoutTests {
    private static let beginning = Array("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello".utf8)

    private let clock = ManualClock()
    private let timer: TimerService

    init() {
        timer = TimerService(clock)
    }

    @Test(arguments: TestedClient.allCases, [LoopbackAnswer.never, .begun(beginning)])
    func silentServerCausesATimeout(client: TestedClient, answer: LoopbackAnswer) async throws {
        let aware = client.makeFetcher()
        for client: any DataFetcher in [aware, UnawareDataFetcher(base: aware)] {
            try await LoopbackServer.serving({ _ in answer }) { server in
                var events = server.events.makeAsyncIterator()
                let fetcher = client.timingOut(after: .seconds(2), timer: timer)
                async let failure = fetcher.failure(DataRequest(url: server.url("x")))
                #expect(await events.next() == .waiting("/x"))
                await timer.timers(1)
                clock.advance(by: .seconds(2))
                let error = await failure
                #expect(error?.reason == .timedOut)
                #expect(error?.explanation == "was not answered within 2.0 seconds")
                #expect(await events.next() == .abandoned("/x"))
            }
        }
        #expect(timer.count == 0)
    }

    @Test(arguments: TestedClient.allCases)
    func slowBodyCausesATimeout(client: TestedClient) async throws {
        let gate = LoopbackGate()
        let parts = [Self.beginning] + [[UInt8]](repeating: [0x78], count: 4)
        try await LoopbackServer.serving({ _ in .trickled(parts, through: gate) }) { server in
            var events = server.events.makeAsyncIterator()
            let fetcher = client.makeFetcher().timingOut(after: .seconds(2), timer: timer)
            async let failure = fetcher.failure(DataRequest(url: server.url("x")))
            #expect(await events.next() == .waiting("/x"))
            await timer.timers(1)
            for _ in 0..<4 {
                gate.open()
                clock.advance(by: .milliseconds(500))
            }
            #expect(await failure?.reason == .timedOut)
            gate.open()
            #expect(await events.next() == .abandoned("/x"))
        }
        #expect(timer.count == 0)
    }

    @Test(arguments: TestedClient.allCases)
    func responseWithinTheTimeoutIsComplete(client: TestedClient) async throws {
        let gate = LoopbackGate()
        let parts = [Self.beginning, Array("world".utf8)]
        try await LoopbackServer.serving({ _ in .trickled(parts, through: gate) }) { server in
            var events = server.events.makeAsyncIterator()
            let fetcher = client.makeFetcher().timingOut(after: .seconds(2), timer: timer)
            async let response = fetcher.fetch(DataRequest(url: server.url("x")))
            #expect(await events.next() == .waiting("/x"))
            gate.open()
            await timer.timers(1)
            clock.advance(by: .milliseconds(1_999))
            gate.open()
            let given = try await response
            #expect(given.body.count == 10)
        }
        #expect(timer.count == 0)
    }
}
