import InwardFetching
import LoopbackServer
import Testing

/// Coalescing of concurrent requests to a real server.
@Suite(.timeLimit(.minutes(5)))
struct ClientCoalescingTests {
    private let joins = Joins()
    private let gate = LoopbackGate()

    private func coalescing(_ client: TestedClient) -> any DataFetcher {
        client.makeFetcher().coalescing().observing(with: joins)
    }

    @Test(arguments: TestedClient.allCases)
    func concurrentRequestsAreCoalesced(client: TestedClient) async throws {
        let answer = LoopbackAnswer.whole(body: Array("x".utf8))
        try await LoopbackServer.serving({ [gate] _ in .held(at: gate, answer) }) { server in
            let fetcher = coalescing(client)
            try await withThrowingTaskGroup { group in
                for _ in 0..<20 {
                    group.addTask { try await fetcher.fetch(DataRequest(url: server.url())).body.count }
                }
                await joins.next(19)
                gate.open(20)
                for try await count in group { #expect(count == 1) }
            }
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: TestedClient.allCases)
    func coalescedRequestsShareAFailure(client: TestedClient) async throws {
        try await LoopbackServer.serving({ [gate] _ in .held(at: gate, .cutOff(promised: 9, sent: 1)) }) { server in
            let fetcher = coalescing(client)
            await withTaskGroup { group in
                for _ in 0..<3 { group.addTask { await fetcher.failure(DataRequest(url: server.url()))?.reason } }
                await joins.next(2)
                gate.open(3)
                for await reason in group { #expect(reason == .interrupted) }
            }
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: TestedClient.allCases)
    func cancelledWaiterDoesNotCancelTheOthers(client: TestedClient) async throws {
        try await LoopbackServer.serving({ [gate] _ in .held(at: gate, .whole()) }) { server in
            var events = server.events.makeAsyncIterator()
            let fetcher = coalescing(client)
            let request = DataRequest(url: server.url("x"))
            await withTaskGroup { first in
                first.addTask { await fetcher.failure(request)?.reason }
                #expect(await events.next() == .waiting("/x"))
                async let response = fetcher.fetch(request)
                await joins.next(1)
                first.cancelAll()
                #expect(await first.next() == .cancelled)
                gate.open()
                #expect(await (try? response)?.status == .ok)
            }
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: TestedClient.allCases)
    func transferEndsWhenAllWaitersAreCancelled(client: TestedClient) async throws {
        try await LoopbackServer.serving({ _ in .never }) { server in
            var events = server.events.makeAsyncIterator()
            let fetcher = coalescing(client)
            await withTaskGroup { group in
                for _ in 0..<3 { group.addTask { await fetcher.failure(DataRequest(url: server.url("x")))?.reason } }
                await joins.next(2)
                #expect(await events.next() == .waiting("/x"))
                group.cancelAll()
                for await reason in group { #expect(reason == .cancelled) }
                #expect(await events.next() == .abandoned("/x"))
            }
        }
    }
}
