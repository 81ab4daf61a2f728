import AsyncHTTPClient
import Comparing
import Foundation
import InwardAsyncHTTPClient
import InwardFetching
import InwardURLSession
import NIOCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// There are as many connections as requests in flight at most. The body limit is that of the data fetchers.
let connections = 256
let limit = 64 * 1_024 * 1_024

/// Prints the requests per second to an address through each data fetcher, compared with its underlying client.
@concurrent func measure(_ address: String, _ url: URL) async throws {
    let request = DataRequest(url: url)
    let overClient = AsyncHTTPClientDataFetcher(connectionsPerHost: connections)
    let overSession = URLSessionDataFetcher(connectionsPerHost: connections)
    let client = HTTPClient.alone(connectionsPerHost: connections, bodyLimit: limit)
    let session = URLSession.alone(connectionsPerHost: connections)
    let size = try await overClient.fetch(request).body.count
    @Sendable func check(_ count: Int) throws { guard count == size else { throw UnexpectedAnswer() } }

    print("| in flight | client | alone/s | ours/s | ratio | at least | busy alone, µs | ours, µs |")
    print("|---|---|---|---|---|---|---|---|")
    func row(_ name: String, _ comparison: ThroughputComparison, atLeast target: Double) {
        let rates = [comparison.alone, comparison.ours].map { "\(Int($0.rounded()))" }
        let others = [comparison.ratio, target, comparison.busyAlone, comparison.busyOurs].map(\.withTwoDigits)
        print("| \(comparison.inFlight) | \(name) | \((rates + others).joined(separator: " | ")) |")
    }
    for inFlight in [1, 64, 256] {
        let comparison = try await ThroughputComparison(inFlight: inFlight) {
            try check(await client.body(at: address, upTo: limit).readableBytes)
        } ours: {
            try check(await overClient.fetch(request).body.count)
        }
        row("AsyncHTTPClient", comparison, atLeast: 0.95)
    }
    for inFlight in [1, 64] {
        let comparison = try await ThroughputComparison(inFlight: inFlight) {
            try check(await session.data(for: URLRequest(url: url)).0.count)
        } ours: {
            try check(await overSession.fetch(request).body.count)
        }
        row("URLSession", comparison, atLeast: 0.97)
    }
    try await overClient.close()
    try await client.shutdown()
    session.invalidateAndCancel()
}

guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
    print("usage: loopback ADDRESS")
    exit(2)
}
try await measure(CommandLine.arguments[1], url)
