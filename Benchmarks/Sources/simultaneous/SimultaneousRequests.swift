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
    /// The same with a plain task in place of the fetcher: each caller waits for the value of the task that sends the request.
    let plain: Double
    /// The time `together` divided by `alone`: the median of the ratios of all rounds.
    let ratio: Double

    /// Measures one request and many in turn, after a warm-up round.
    init(_ callers: Int, of request: DataRequest, to upstream: any DataFetcher, rounds: Int = 11) async throws {
        let counting = CountingDataFetcher(upstream)
        let fetcher = counting.coalescing()
        var samples: [(alone: Double, together: Double, plain: Double)] = []
        var counts: [Int] = []
        for number in 0...rounds {
            let alone = try await Self.milliseconds { _ = try await fetcher.fetch(request) }
            _ = counting.takeCount()
            let together = try await Self.milliseconds {
                try await Self.simultaneously(callers) { _ = try await fetcher.fetch(request) }
            }
            let count = counting.takeCount()
            let plain = try await Self.milliseconds {
                let transfer = Task { try await upstream.fetch(request) }
                try await Self.simultaneously(callers) { _ = try await transfer.value }
            }
            guard number > 0 else { continue }
            samples.append((alone, together, plain))
            counts.append(count)
        }
        reachedUpstream = counts.max() ?? 0
        alone = samples.map(\.alone).median
        together = samples.map(\.together).median
        plain = samples.map(\.plain).median
        ratio = samples.map { $0.together / $0.alone }.median
    }

    /// Runs work in a number of tasks, in groups of 100. A group looks for each task that ends among all of its tasks, so a group of
    /// all of them would mostly measure itself.
    private static func simultaneously(
        _ count: Int,
        _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup { groups in
            for first in stride(from: 0, to: count, by: 100) {
                groups.addTask {
                    try await withThrowingTaskGroup { group in
                        for _ in first..<min(first + 100, count) { group.addTask { try await work() } }
                        try await group.waitForAll()
                    }
                }
            }
            try await groups.waitForAll()
        }
    }

    private static func milliseconds(_ work: () async throws -> Void) async rethrows -> Double {
        let start = ContinuousClock.now
        try await work()
        return start.duration(to: .now) / .milliseconds(1)
    }
}
