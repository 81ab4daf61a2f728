import FoundationEssentials
import InwardFetching
import Measuring

/// Prints the cost of each decorator around a fetcher that answers from memory, on success.
///
///     decorators              # all
///     decorators coalescing   # those whose name contains the text
@concurrent func measure(containing text: String) async {
    let request = DataRequest(
        url: URL(string: "http://upstream.test/users/7") ?? URL(filePath: "/"),
        headerFields: [HeaderField(.accept, "application/json")]
    )
    let response = DataResponse(
        headerFields: [HeaderField(.contentType, "application/json")],
        body: Data(count: 512)
    )
    let bare = BareDataFetcher(response: response, honorsDeadlines: true)
    // Each fetcher, even the bare one, is called as an existential, and in its own task, so that none benefits from the task
    // memory of another.
    func cost(_ fetcher: any DataFetcher) async -> Measurement {
        await Task { await Measurement { _ = try? await fetcher.fetch(request) } }.value
    }
    var table = CostTable(base: await cost(bare))

    func add(_ name: String, atMost limit: Double? = nil, _ fetcher: any DataFetcher) async {
        guard text.isEmpty || name.contains(text) else { return }
        table.add(name, atMost: limit, await cost(fetcher))
    }

    await add("observer, none attached", atMost: 60, bare.observing(with: nil))
    await add("retry", atMost: 60, bare.retrying(.standard))
    await add("breaker, last 20 calls", atMost: 60, bare.breakingCircuit(.standard))
    await add(
        "breaker, last 10 seconds",
        bare.breakingCircuit(CircuitBreaker(policy: CircuitBreakerPolicy(window: .time(.seconds(10)))))
    )
    await add(
        "breaker, slow calls too",
        bare.breakingCircuit(
            CircuitBreaker(policy: CircuitBreakerPolicy(slowCalls: .init(.seconds(1), share: 0.5)))
        )
    )
    await add("concurrency limit", atMost: 60, bare.limitingConcurrency(to: 64))
    await add(
        "concurrency limit, adaptive",
        bare.limitingConcurrency(to: ConcurrencyLimiter(.adaptive(in: 1...100, from: 10)))
    )
    let rate = RateLimiter(1_000_000_000, per: .seconds(1), burst: 1_000_000)
    await add("rate limit", atMost: 60, bare.limitingRate(to: rate))
    await add("size limit", atMost: 60, bare.limitingSize(to: 1_024))
    await add("fallback", bare.fallingBack(to: DataResponse()))
    await add("timeout", atMost: 400, bare.timingOut(after: .seconds(2)))
    await add(
        "timeout around a fetcher that ignores deadlines",
        BareDataFetcher(response: response, honorsDeadlines: false).timingOut(after: .seconds(2))
    )
    await add("coalescing", atMost: 500, bare.coalescing())
    await add(
        "five: rate, total timeout, retry, breaker, attempt timeout",
        atMost: 766,
        bare.timingOut(after: .seconds(2)).breakingCircuit(.standard).retrying(.standard)
            .timingOut(after: .seconds(10)).limitingRate(to: rate)
    )
    let isolated = CircuitBreaker.standard
    isolated.isolate()
    await add("rejection by an isolated breaker, total", atMost: 150, bare.breakingCircuit(isolated))
    let open = CircuitBreaker(policy: CircuitBreakerPolicy(minimumCalls: 1))
    _ = try? await FailingDataFetcher().breakingCircuit(open).fetch(request)
    await add("rejection by an open breaker, total", atMost: 150, bare.breakingCircuit(open))
    print(table)
}

await measure(containing: CommandLine.arguments.dropFirst().first ?? "")
