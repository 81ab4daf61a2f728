import InwardFetching
import InwardTesting
import Testing

struct DataFetcherPipelineTests {
    /// A decorator of whoever links the rings.
    private struct ForeignDataFetcher: DecoratingDataFetcher {
        var base: any DataFetcher
        let layer: DataFetcherLayer

        func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse { try await base.fetch(request) }
    }

    /// A pipeline of layers of these kinds, the outermost first.
    private func pipeline(_ kinds: [DataFetcherLayer.Kind]) -> DataFetcherPipeline {
        pipeline(of: kinds.map { DataFetcherLayer($0, "does something") })
    }

    /// A pipeline of these layers, the outermost first.
    private func pipeline(of layers: [DataFetcherLayer]) -> DataFetcherPipeline {
        let source: any DataFetcher = StubDataFetcher(DataResponse())
        return layers.reversed().reduce(source) { base, layer in
            ForeignDataFetcher(base: base, layer: layer)
        }.pipeline
    }

    @Test func itPrintsItselfOutermostFirst() throws {
        let partition = ResponseCache(byteLimit: 1, clock: ManualClock()).makePartition()
        let fetcher = ForeignDataFetcher(
            base: StubDataFetcher(DataResponse()).timingOut(after: .seconds(2)),
            layer: DataFetcherLayer(.other, "does something else")
        ).coalescing().caching(in: partition).observing(with: nil)
        #expect(
            fetcher.pipeline.description == """
                is observed by nobody
                → answers from memory while an answer is fresh
                → asks once for equal requests, and cancels what nobody waits for
                → does something else
                → times out after 2.0 seconds
                → StubDataFetcher
                """
        )
        #expect(fetcher.pipeline.warnings.isEmpty)
    }

    @Test func anObserverChangesNothingOfIt() throws {
        let fetcher = StubDataFetcher(DataResponse()).timingOut(after: .seconds(2)).coalescing()
        let observed = fetcher.observing(with: JoinObserver(of: 1) {})
        #expect(observed.pipeline.layers.dropFirst() == fetcher.pipeline.layers[...])
        #expect(observed.pipeline.source == "StubDataFetcher")
    }

    @Test func aFetcherWithoutLayersIsItsOwnSource() {
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
    func ordersThatMakeSenseAreNotWarnedOf(kinds: [DataFetcherLayer.Kind]) {
        #expect(pipeline(kinds).warnings.map(\.description) == [])
    }

    @Test(
        arguments: [
            ([.timeout, .retry], "A timeout around retries bounds all attempts together"),
            ([.timeout, .coalescing], "A timeout around coalescing ends waits and not the transfer"),
            ([.coalescing, .cache], "A cache inside of coalescing answers only whoever was first"),
            ([.circuitBreaker, .cache], "A cache inside of a circuit breaker cannot answer while the circuit is open"),
            (
                [.concurrencyLimit, .cache],
                "Answers of a cache inside of a concurrency limit take the place of requests"
            ),
            ([.rateLimit, .cache], "Answers of a cache inside of a rate limit use up what the upstream would take"),
            ([.rateLimit, .coalescing], "A rate limit around coalescing counts requests that are never sent"),
            ([.retry, .coalescing], "Retries around coalescing are made by each who waits for a transfer that failed"),
            ([.retry, .fallback], "Retries around a fallback never see a failure"),
            ([.circuitBreaker, .fallback], "A circuit breaker around a fallback never sees a failure"),
            ([.hedging, .fallback], "Hedging around a fallback takes its answer for the upstream's"),
            ([.hedging, .retry], "Hedging around retries doubles all of them"),
            ([.deadlineNotice, .coalescing], "A deadline told around coalescing makes every request another one"),
            ([.deadlineNotice, .cache], "A deadline told around a cache makes every request another one"),
            ([.concurrencyLimit, .retry], "A concurrency limit around retries gives a place to who only waits"),
            ([.sizeLimit, .cache], "A size limit around a cache refuses what is kept already"),
            ([.retry, .retry], "Retries of retries multiply"),
            ([.cache, .cache], "Of two caches the inner one is asked only for what the outer one does not have"),
            ([.coalescing, .coalescing], "Behind coalescing there are no equal requests to coalesce"),
            ([.hedging, .hedging], "Hedging of hedging sends up to four times"),
            (
                [.circuitBreaker, .circuitBreaker],
                "Of two circuit breakers the inner one's refusals are no failures to the other"
            ),
        ] as [([DataFetcherLayer.Kind], String)]
    )
    func ordersThatMakeNoSenseAreWarnedOfWithTheReason(kinds: [DataFetcherLayer.Kind], beginning: String) throws {
        let inBetween = DataFetcherLayer.Kind.other
        for kinds in [kinds, [kinds[0], inBetween, kinds[1]]] {
            let warning = try #require(pipeline(kinds).warnings.first)
            #expect(pipeline(kinds).warnings.count == 1)
            #expect(warning.description.hasPrefix(beginning))
            #expect(warning.layers.map(\.kind) == [kinds[0], kinds[kinds.count - 1]])
            #expect(pipeline(kinds).description.hasSuffix("\nwarning: \(warning)"))
        }
        // The other way round it makes sense, if it is another way.
        if kinds[0] != kinds[1] { #expect(pipeline(kinds.reversed()).warnings.isEmpty) }
    }

    /// It is the one to put further inside.
    @Test(arguments: [.retry, .coalescing] as [DataFetcherLayer.Kind])
    func ofTwoTimeoutsTheInnerOneIsNamed(kind: DataFetcherLayer.Kind) {
        let outer = DataFetcherLayer(.timeout, "times out after 9.0 seconds")
        let inner = DataFetcherLayer(.timeout, "times out after 2.0 seconds")
        let bounded = DataFetcherLayer(kind, "does something")
        #expect(pipeline(of: [outer, inner, bounded]).warnings.map(\.layers) == [[inner, bounded]])
    }
}
