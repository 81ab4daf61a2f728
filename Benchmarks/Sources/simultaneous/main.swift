import Comparing
import Foundation
import InwardAsyncHTTPClient
import InwardFetching

/// Prints the cost of 10,000 equal concurrent requests, for upstreams with several latencies and for an address.
@concurrent func measure(_ url: URL) async throws {
    let callers = 10_000
    let request = DataRequest(url: url)
    let client = AsyncHTTPClientDataFetcher()
    let response = try await client.fetch(request)

    print("| \(callers) callers | sent | one, ms | all, ms | over a plain task, ms | all : one | at most |")
    print("|---|---|---|---|---|---|---|")
    func add(_ name: String, atMost target: String, _ upstream: any DataFetcher) async throws {
        let requests = try await SimultaneousRequests(callers, of: request, to: upstream)
        let figures = [requests.alone, requests.together, requests.plain, requests.ratio].map(\.withTwoDigits)
        print("| \(name) | \(requests.reachedUpstream) | \(figures.joined(separator: " | ")) | \(target) |")
    }
    for latency in [100, 20] {
        try await add(
            "latency \(latency) ms",
            atMost: "2",
            LateDataFetcher(response: response, latency: .milliseconds(latency))
        )
    }
    // The address answers faster than so many callers can ask, so late callers miss the first response.
    try await add("the address", atMost: "", client)
    try await client.close()
}

guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
    print("usage: simultaneous ADDRESS")
    exit(2)
}
try await measure(url)
