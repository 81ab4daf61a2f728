import Comparing
import InwardFetching

/// What it takes to answer many equal requests at once through one that is shared: medians over several rounds.
struct SimultaneousRequests {
    /// How many requests reached the upstream in a round, at the most.
    let reachedUpstream: Int
    /// Milliseconds until one request alone has its answer.
    let alone: Double
    /// Milliseconds from before the first caller is there until the last one has its answer.
    let together: Double
    /// How many times `alone` that is: of the ratios of the rounds, the median.
    let ratio: Double

    /// Measures one request and many by turns, after a round in which nothing counts.
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
