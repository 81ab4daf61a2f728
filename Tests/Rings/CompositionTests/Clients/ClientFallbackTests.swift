import Foundation
import InwardCore
import InwardFetching
import InwardTesting
import LoopbackServer
import Testing

/// Fallbacks for a server that fails.
@Suite(.timeLimit(.minutes(5)))
struct ClientFallbackTests {
    @Test(
        arguments: TestedClient.allCases,
        [
            (LoopbackAnswer.whole(status: 503), FetchError.Reason.unsuccessful),
            (.cutOff(promised: 9, sent: 1), .interrupted), (.raw([]), .interrupted),
        ]
    )
    func anotherUpstreamAnswersAndTheResponseSaysWhy(
        client: TestedClient,
        fault: (answer: LoopbackAnswer, reason: FetchError.Reason)
    ) async throws {
        try await LoopbackServer.serving({ _ in .whole(body: Array("other".utf8)) }) { other in
            try await LoopbackServer.serving({ _ in fault.answer }) { server in
                let fetcher = client.makeFetcher()
                let elsewhere = StubDataFetcher { request throws(FetchError) in
                    try await fetcher.fetch(DataRequest(url: other.url("other")))
                }
                let response = try await fetcher.fallingBack(to: elsewhere).fetch(DataRequest(url: server.url()))
                #expect(response.body == Data("other".utf8))
                #expect(response.fallbackReason?.reason == fault.reason)
                #expect(server.requests.count == 1)
                #expect(other.requests.count == 1)
            }
        }
    }

    @Test(arguments: TestedClient.allCases)
    func unreachableUpstreamIsReplacedByAFixedResponse(client: TestedClient) async throws {
        try await LoopbackServer.refusing { port in
            let url = try #require(URL(string: "http://127.0.0.1:\(port)/"))
            let fetcher = client.makeFetcher().fallingBack(to: DataResponse(body: Data("[]".utf8)))
            let response = try await fetcher.fetch(DataRequest(url: url))
            #expect(response.body == Data("[]".utf8))
            #expect(response.fallbackReason?.reason == .unreachable)
        }
    }

    @Test(arguments: TestedClient.allCases)
    func slowUpstreamIsReplacedByAFixedResponse(client: TestedClient) async throws {
        let clock = ManualClock()
        let timer = TimerService(clock)
        try await LoopbackServer.serving({ _ in .never }) { server in
            let fetcher = client.makeFetcher().timingOut(after: .seconds(1), timer: timer)
                .fallingBack(to: DataResponse(status: 203))
            async let response = fetcher.fetch(DataRequest(url: server.url()))
            await timer.timers(1)
            clock.advance(by: .seconds(1))
            let given = try await response
            #expect(given.status == 203)
            #expect(given.fallbackReason?.reason == .timedOut)
        }
    }

    @Test(arguments: TestedClient.allCases)
    func writeHasNoFallback(client: TestedClient) async throws {
        try await LoopbackServer.serving({ _ in .cutOff(promised: 9, sent: 1) }) { server in
            let fetcher = client.makeFetcher().fallingBack(to: DataResponse())
            let error = await fetcher.failure(DataRequest(method: .post, url: server.url(), body: Data("{}".utf8)))
            #expect(error?.reason == .interrupted)
        }
    }
}
