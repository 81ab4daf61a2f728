import InwardCore
import InwardFetching
import InwardTesting
import LoopbackServer
import Testing

/// Limits as a real server sees them.
@Suite(.timeLimit(.minutes(5)))
struct ClientLimitTests {
    private let clock = ManualClock()
    private let timer: TimerService

    init() {
        timer = TimerService(clock)
    }

    @Test(arguments: TestedClient.allCases)
    func requestsInFlightStayWithinTheConcurrencyLimit(client: TestedClient) async throws {
        let gate = LoopbackGate()
        // The maximum wait never passes here. It creates one timer per waiting request, so the timers count the waiters.
        let limiter = ConcurrencyLimiter(.fixed(3), atMost: .seconds(60), timer: timer)
        try await LoopbackServer.serving({ _ in .held(at: gate, .whole()) }) { server in
            var events = server.events.makeAsyncIterator()
            let fetcher = client.makeFetcher().limitingConcurrency(to: limiter)
            try await withThrowingTaskGroup { group in
                for _ in 0..<12 { group.addTask { try await fetcher.fetch(DataRequest(url: server.url("x"))) } }
                await timer.timers(9)
                for _ in 0..<3 { #expect(await events.next() == .waiting("/x")) }
                for answered in 0..<9 {
                    #expect(server.requests.count == 3 + answered)
                    gate.open()
                    #expect(await events.next() == .waiting("/x"))
                }
                gate.open(3)
                for try await response in group { #expect(response.status == .ok) }
            }
            #expect(server.requests.count == 12)
        }
        #expect(limiter.underWay == 0)
    }

    @Test(arguments: TestedClient.allCases, [LoopbackAnswer.cutOff(promised: 9, sent: 1), .whole(status: 503)])
    func failedRequestReleasesItsPermit(client: TestedClient, fault: LoopbackAnswer) async throws {
        try await LoopbackServer.serving({ _ in fault }) { server in
            let limiter = ConcurrencyLimiter(.fixed(1), waiting: 0)
            let fetcher = client.makeFetcher().limitingConcurrency(to: limiter)
            for _ in 0..<3 { _ = try? await fetcher.fetch(DataRequest(url: server.url())) }
            #expect(server.requests.count == 3)
        }
    }

    @Test(arguments: TestedClient.allCases)
    func cancelledRequestReleasesItsPermit(client: TestedClient) async throws {
        try await LoopbackServer.serving(inTurn: [.never, .whole()]) { server in
            var events = server.events.makeAsyncIterator()
            let limiter = ConcurrencyLimiter(.fixed(1), waiting: 0)
            let fetcher = client.makeFetcher().limitingConcurrency(to: limiter)
            let request = DataRequest(url: server.url("x"))
            await withTaskGroup { group in
                group.addTask { await fetcher.failure(request)?.reason }
                #expect(await events.next() == .waiting("/x"))
                #expect(await fetcher.failure(request)?.reason == .rejected)
                group.cancelAll()
                #expect(await group.next() == .cancelled)
            }
            let response = try await fetcher.fetch(request)
            #expect(response.status == .ok)
            #expect(server.requests.count == 2)
        }
    }

    @Test(arguments: TestedClient.allCases)
    func requestsStayWithinTheRateLimit(client: TestedClient) async throws {
        let limiter = RateLimiter(1, per: .seconds(1), burst: 2, timer: timer)
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let fetcher = client.makeFetcher().limitingRate(to: limiter)
            let request = DataRequest(url: server.url())
            for _ in 0..<2 { _ = try await fetcher.fetch(request) }
            async let response = fetcher.fetch(request)
            await timer.timers(1)
            let error = await fetcher.failure(request)
            #expect(error?.reason == .rejected)
            #expect(error?.retryAfter == .delay(.seconds(2)))
            // All timers that are due earlier fire before this one.
            let isPast = Promise<Void>()
            timer.schedule(at: .milliseconds(999)) { isPast.fulfill(()) }
            clock.advance(by: .milliseconds(999))
            _ = await isPast.value()
            #expect(timer.count == 1)
            #expect(server.requests.count == 2)
            clock.advance(by: .milliseconds(1))
            let given = try await response
            #expect(given.status == .ok)
            #expect(server.requests.count == 3)
        }
    }

    @Test(arguments: TestedClient.allCases)
    func responseMayBeAsLargeAsTheLimitButNotLarger(client: TestedClient) async throws {
        try await LoopbackServer.serving({ request in
            .whole(status: 500, body: [UInt8](repeating: 0x78, count: request.target == "/a" ? 1_000 : 1_001))
        }) { server in
            let fetcher = client.makeFetcher().limitingSize(to: 1_000)
            let response = try await fetcher.fetch(DataRequest(url: server.url("a")))
            #expect(response.body.count == 1_000)
            #expect(await fetcher.failure(DataRequest(url: server.url("b")))?.reason == .tooLarge)
        }
    }
}
