import Comparing
import InwardFetching

/// The cost of many equal concurrent requests through a coalescing fetcher: medians over several rounds.
struct SimultaneousRequests {
    /// The maximum number of requests that reached the upstream in a round.
    let reachedUpstream: Int
    /// The duration of a single request, in milliseconds.
    let alone: Double
    /// The time from before the first caller starts until the last one has its response, in milliseconds.
    let together: Double
    /// The time `together` divided by `alone`: the median of the ratios of all rounds.
    let ratio: Double

    /// Measures one request and many in turn, after a warm-up round.
    init(_ callers: Int, of request: DataRequest, to upstream: any DataFetcher, rounds: Int = 11) async throws {
        let counting = CountingDataFetcher(upstream)
        let fetcher = counting.coalescing()
        var samples: [(alone: Double, together: Double)] = []
        var counts: [Int] = []
        for number in 0...rounds {
            let alone = try await Self.milliseconds { _ = try await fetcher.fetch(request) }
            _ = counting.takeCount()
            let together = try await Self.milliseconds {
                try await withThrowingTaskGroup { group in
                    for _ in 0..<callers { group.addTask { _ = try await fetcher.fetch(request) } }
                    try await group.waitForAll()
                }
            }
            let count = counting.takeCount()
            guard number > 0 else { continue }
            samples.append((alone, together))
            counts.append(count)
        }
        reachedUpstream = counts.max() ?? 0
        alone = samples.map(\.alone).median
        together = samples.map(\.together).median
        ratio = samples.map { $0.together / $0.alone }.median
    }

    private static func milliseconds(_ work: () async throws -> Void) async rethrows -> Double {
        let start = ContinuousClock.now
        try await work()
        return start.duration(to: .now) / .milliseconds(1)
    }
}
