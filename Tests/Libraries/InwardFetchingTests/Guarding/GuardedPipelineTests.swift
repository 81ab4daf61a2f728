import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

/// How a guard reaches the clients of a pipeline.
@Suite(.timeLimit(.minutes(5)))
struct GuardedPipelineTests {
    private struct ForeignDataFetcher: DataFetcher {
        func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse { DataResponse() }
    }

    private let network: NetworkDataFetcher
    private let hostile: DataRequest

    init() throws {
        let address = try #require(IPAddress("127.0.0.1"))
        network = NetworkDataFetcher(resolver: StubHostResolver([address])) { _ throws(FetchError) in DataResponse() }
        hostile = try .example("http://example.com/")
    }

    private func expectRefusal(by pipeline: some DataFetcher) async throws {
        #expect(await pipeline.failure(hostile) == nil)
        let count = network.connections.count
        let guarded = try pipeline.guarding(with: .publicInternet)
        #expect(await guarded.reason(hostile) == .addressRefused)
        #expect(network.connections.count == count)
        // The original is unchanged.
        #expect(await pipeline.failure(hostile) == nil)
    }

    @Test func guardReachesTheClientThroughEveryLayer() async throws {
        let partition = ResponseCache(byteLimit: 1_000_000, clock: ManualClock()).makePartition()
        try await expectRefusal(by: network)
        try await expectRefusal(by: network.timingOut(after: .seconds(60)).retrying(.standard).coalescing())
        try await expectRefusal(
            by: network.limitingConcurrency(to: 4).limitingSize(to: 1_000).hedging(after: .fixed(.seconds(60)))
        )
        try await expectRefusal(
            by: network.authorizing(with: .bearer("token"), for: hostile.url, allowingPlainHTTP: true)
        )
        try await expectRefusal(by: network.observing(with: JoinObserver(of: 1) {}).coalescing())
        try await expectRefusal(by: network.protecting(by: UpstreamProtection()))
        try await expectRefusal(
            by: network.protecting(by: OriginProtections("images")).observing(with: JoinObserver(of: 1) {})
        )
        try await expectRefusal(by: network.caching(in: partition))
    }

    @Test func guardReachesTheClientOfAFallback() async throws {
        let failing = StubDataFetcher(failing: .unreachable).fallingBack(to: network.timingOut(after: .seconds(60)))
        #expect(await failing.failure(hostile) == nil)
        #expect(try await failing.guarding(with: .publicInternet).reason(hostile) == .unreachable)
        #expect(network.connections.count == 1)
    }

    @Test func observersSeeRefusalsOfAnObservedPipeline() async throws {
        let observer = RecordingFetchObserver()
        let guarded = try network.coalescing().guarding(with: .publicInternet).observing(with: observer)
        #expect(await guarded.reason(hostile) == .addressRefused)
        #expect(network.connections.isEmpty)
    }

    @Test func guardedRequestsDoNotJoinOthers() async throws {
        let meeting = Rendezvous(of: 2)
        let address = try #require(IPAddress("127.0.0.1"))
        let resolver = StubHostResolver { [address] _, count throws(HostResolutionError) in
            if count == 1 { await meeting.arrive() }
            return [address]
        }
        let network = NetworkDataFetcher(resolver: resolver) { _ throws(FetchError) in DataResponse() }
        let shared = network.coalescing()
        let guarded = try shared.guarding(with: .publicInternet)
        await withTaskGroup { group in
            group.addTask { await shared.failure(hostile) }
            while resolver.lookups.isEmpty { await Task.yield() }
            #expect(await guarded.reason(hostile) == .addressRefused)
            await meeting.arrive()
            for await failure in group { #expect(failure == nil) }
        }
    }

    @Test func pipelineListsThePolicy() throws {
        let url = try DataRequest.example("http://Orders.internal/api").url
        let block = try #require(IPAddressBlock("10.20.0.0/16"))
        let policies: [(AddressPolicy, String)] = [
            (.publicInternet, "addresses on the public internet"),
            (try .origin(of: url), "http://orders.internal:80"),
            (try AddressPolicy(hosts: []), "no addresses"),
            (
                try AddressPolicy(hosts: ["a.com"], allowing: [block]),
                "allowed hosts on the public internet or in 10.20.0.0/16"
            ),
            (
                try AddressPolicy.publicInternet.trusting(originOf: url),
                "addresses on the public internet, and to http://orders.internal:80"
            ),
        ]
        for (policy, text) in policies {
            let pipeline = try network.guarding(with: policy).pipeline
            #expect(pipeline.description == "sends only to \(text)\n→ NetworkDataFetcher")
            #expect(pipeline.layers.map(\.kind) == [.addressGuard])
        }
    }

    @Test func fetcherThatCannotBeGuardedIsNamed() throws {
        for fetcher in [ForeignDataFetcher(), ForeignDataFetcher().retrying(.standard).coalescing()]
            as [any DataFetcher]
        {
            let error = #expect(throws: AddressPolicyError.self) { try fetcher.guarding(with: .publicInternet) }
            #expect(
                error?.description.hasPrefix("ForeignDataFetcher cannot check the addresses of its requests. ") == true
            )
        }
        let fallback = network.fallingBack(to: ForeignDataFetcher())
        #expect(throws: AddressPolicyError.self) { try fallback.guarding(with: .publicInternet) }
    }

    @Test func doublesRefuseURLs() async throws {
        let url = try DataRequest.example("https://example.com/a").url
        let recorder = RecordingDataFetcher(StubDataFetcher(DataResponse()))
        let web = InMemoryWebDataFetcher()
        web["/a"] = [1]
        let doubles: [any DataFetcher] = [
            StubDataFetcher(DataResponse()), ScriptedDataFetcher([.status(.ok)]),
            RoutedDataFetcher().on(.get, "/a", .status(.ok)), web, recorder,
        ]
        for double in doubles {
            let guarded = try double.guarding(with: AddressPolicy(schemes: [.https])).guarding(with: .publicInternet)
            #expect(await guarded.base.reason(hostile) == .addressRefused)
            #expect(await guarded.base.failure(DataRequest(url: url)) == nil)
        }
        #expect(recorder.requests.map(\.url) == [url])
    }
}
