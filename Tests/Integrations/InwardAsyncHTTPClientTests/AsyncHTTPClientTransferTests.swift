#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import InwardCore
import InwardFetching
import InwardTesting
import LoopbackServer
import Synchronization
import Testing

@testable import InwardAsyncHTTPClient

@Suite(.timeLimit(.minutes(5)))
struct AsyncHTTPClientTransferTests {
    /// Runs a test with a transfer of a response with the body “x”. The client is shut down afterwards.
    private func withTransfer(test: (AsyncHTTPClientTransfer) async throws -> Void) async throws {
        try await LoopbackServer.serving({ _ in .whole(body: Array("x".utf8)) }) { server in
            try await HTTPClient.withHTTPClient { client in
                let request = DataRequest(url: server.url())
                try await test(AsyncHTTPClientTransfer(of: request, by: client, bodyLimit: 9, decompresses: false))
            }
        }
    }

    @Test func arrivalOfHeadAndBodyPartsIsReported() async throws {
        try await LoopbackServer.serving({ _ in .whole(body: Array("x".utf8)) }) { server in
            try await HTTPClient.withHTTPClient { client in
                let request = DataRequest(url: server.url())
                let count = Mutex(0)
                let receiver = AsyncHTTPClientReceiver(of: request, bodyLimit: 9) { count.withLock { $0 += 1 } }
                try await client.execute(request: HTTPClient.Request(request), delegate: receiver).get()
                #expect(try receiver.answer(isDecompressed: false).get().body == Data("x".utf8))
                #expect(count.withLock { $0 } == 2)
            }
        }
    }

    @Test func arrivingDataRestartsTheTimer() async throws {
        let clock = ManualClock()
        let timer = TimerService(clock)
        let idle = IdleTimer(timeout: .seconds(3), timer: timer)
        clock.advance(by: .seconds(2))
        try await withTransfer { transfer in _ = try await transfer.outcome(idleTimer: idle).get() }
        #expect(timer.count == 0)
        // After the transfer, the timer runs from the last arrival.
        clock.advance(by: .seconds(2))
        let isElapsed = Promise<Void>()
        idle.whenElapsed { isElapsed.fulfill(()) }
        #expect(timer.count == 0)
    }
}
#endif
