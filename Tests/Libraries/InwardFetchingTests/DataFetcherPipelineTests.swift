import InwardFetching
import InwardTesting
import Testing

struct DataFetcherPipelineTests {
    /// A decorator outside this package.
    private struct ForeignDataFetcher: DecoratingDataFetcher {
        var base: any DataFetcher
        let layer: DataFetcherLayer

        func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse { try await base.fetch(request) }
    }

    /// Returns a pipeline with layers of the given kinds, outermost first.
    private func pipeline(_ kinds: [DataFetcherLayer.Kind]) -> DataFetcherPipeline {
        pipeline(of: kinds.map { DataFetcherLayer($0, "does something") })
    }

    /// Returns a pipeline with the given layers, outermost first.
    private func pipeline(of layers: [DataFetcherLayer]) -> DataFetcherPipeline {
        let source: any DataFetcher = StubDataFetcher(DataResponse())
        return layers.reversed().reduce(source) { base, layer in
            ForeignDataFetcher(base: base, layer: layer)
        }.pipeline
    }

    @Test func descriptionsListTheOutermostLayerFirst() throws {
        let partition = ResponseCache(byteLimit: 1, clock: ManualClock()).makePartition()
        let fetcher = ForeignDataFetcher(
            base: StubDataFetcher(DataResponse()).timingOut(after: .seconds(2)),
            layer: DataFetcherLayer(.other, "does something else")
        ).coalescing().caching(in: partition).observing(with: nil)
        #expect(
            fetcher.pipeline.description == """
                has no observer
                → serves stored responses as a private cache
                → coalesces equal requests, and cancels transfers without waiters
                → does something else
                → times out after 2.0 seconds
                → StubDataFetcher
                """
        )
        #expect(fetcher.pipeline.warnings.isEmpty)
    }

    @Test func observingKeepsTheOtherLayers() throws {
        let fetcher = StubDataFetcher(DataResponse()).timingOut(after: .seconds(2)).coalescing()
        let observed = fetcher.observing(with: JoinObserver(of: 1) {})
        #expect(observed.pipeline.layers.dropFirst() == fetcher.pipeline.layers[...])
        #expect(observed.pipeline.source == "StubDataFetcher")
    }

    @Test func fetcherWithoutLayersIsDescribedByItsSource() {
        #expect(StubDataFetcher(DataResponse()).pipeline.description == "StubDataFetcher")
    }

    @Test(
        arguments: [
            [.cache, .coalescing, .rateLimit, .timeout, .retry, .circuitBreaker, .timeout],
            [.cache, .coalescing, .circuitBreaker, .retry, .timeout],
            [
                .observation, .fallback, .cache, .authorization, .coalescing, .timeout, .retry, .hedging,
                .concurrencyLimit, .timeout,
            ],
        ] as [[DataFetcherLayer.Kind]]
    )
    func sensibleOrdersHaveNoWarnings(kinds: [DataFetcherLayer.Kind]) {
        #expect(pipeline(kinds).warnings.map(\.description) == [])
    }

    @Test(
        arguments: [
            ([.timeout, .retry], "A timeout around retries limits all attempts together"),
            ([.timeout, .coalescing], "A timeout around coalescing ends waits but not the transfer"),
            ([.coalescing, .cache], "Inside coalescing, only the first caller reads a cache"),
            ([.circuitBreaker, .cache], "A cache inside a circuit breaker cannot answer while the circuit is open"),
            (
                [.concurrencyLimit, .cache],
                "Responses of a cache inside a concurrency limit use permits"
            ),
            ([.rateLimit, .cache], "Responses of a cache inside a rate limit use up the quota"),
            ([.rateLimit, .coalescing], "A rate limit around coalescing counts requests that are never sent"),
            ([.retry, .coalescing], "With retries around coalescing, each waiter of a failed transfer retries"),
            ([.retry, .fallback], "Retries around a fallback never see a failure"),
            ([.circuitBreaker, .fallback], "A circuit breaker around a fallback never sees a failure"),
            (
                [.fallback, .addressGuard],
                "A fallback around an address guard can use a fetcher that the guard does not"
            ),
            ([.hedging, .fallback], "Hedging around a fallback mistakes it for the upstream"),
            ([.hedging, .retry], "Hedging around retries doubles all of them"),
            ([.deadlineNotice, .coalescing], "A deadline field added outside coalescing makes every request"),
            ([.deadlineNotice, .cache], "A deadline field added outside a cache states the deadline of one caller"),
            ([.concurrencyLimit, .retry], "Under a concurrency limit around retries, requests that wait for a retry"),
            ([.sizeLimit, .cache], "A size limit around a cache rejects responses that are already stored"),
            ([.retry, .retry], "Retries of retries multiply"),
            ([.cache, .cache], "The inner of two caches gets only requests that the outer one cannot answer"),
            ([.coalescing, .coalescing], "After coalescing, no equal requests are left to coalesce"),
            ([.hedging, .hedging], "Hedging of hedging sends a request up to four times"),
            (
                [.circuitBreaker, .circuitBreaker],
                "The outer of two circuit breakers does not count the rejections of the inner one"
            ),
        ] as [([DataFetcherLayer.Kind], String)]
    )
    func harmfulOrdersHaveAWarningWithTheReason(kinds: [DataFetcherLayer.Kind], beginning: String) throws {
        let inBetween = DataFetcherLayer.Kind.other
        for kinds in [kinds, [kinds[0], inBetween, kinds[1]]] {
            let warning = try #require(pipeline(kinds).warnings.first)
            #expect(pipeline(kinds).warnings.count == 1)
            #expect(warning.description.hasPrefix(beginning))
            #expect(warning.layers.map(\.kind) == [kinds[0], kinds[kinds.count - 1]])
            #expect(pipeline(kinds).description.hasSuffix("\nwarning: \(warning)"))
        }
        // In the opposite order there is no warning.
        if kinds[0] != kinds[1] { #expect(pipeline(kinds.reversed()).warnings.isEmpty) }
    }

    /// The inner timeout is the one that should move inside the other layer.
    @Test(arguments: [.retry, .coalescing] as [DataFetcherLayer.Kind])
    func warningNamesTheInnerOfTwoTimeouts(kind: DataFetcherLayer.Kind) {
        let outer = DataFetcherLayer(.timeout, "times out after 9.0 seconds")
        let inner = DataFetcherLayer(.timeout, "times out after 2.0 seconds")
        let bounded = DataFetcherLayer(kind, "does something")
        #expect(pipeline(of: [outer, inner, bounded]).warnings.map(\.layers) == [[inner, bounded]])
    }
}
