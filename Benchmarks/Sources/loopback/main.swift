import AsyncHTTPClient
import Comparing
import Foundation
import InwardAsyncHTTPClient
import InwardFetching
import InwardURLSession
import NIOCore
import NIOHTTP1

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// There are as many connections as requests in flight at most. The body limit is that of the data fetchers.
let connections = 256
let limit = 64 * 1_024 * 1_024

/// Prints a row of the table.
func printRow(_ client: String, over version: String, _ comparison: ThroughputComparison, atLeast target: Double) {
    let rates = [comparison.alone, comparison.ours].map { "\(Int($0.rounded()))" }
    let others = [comparison.ratio, target, comparison.busyAlone, comparison.busyOurs].map(\.withTwoDigits)
    print("| \(comparison.inFlight) | \(client) | \(version) | \((rates + others).joined(separator: " | ")) |")
}

/// Throws unless a data fetcher gets its answers from a server over a protocol.
func check(_ fetcher: some DataFetcher, gets name: String, from server: Server) async throws {
    let answer = try await fetcher.fetch(DataRequest(url: server.protocol))
    guard String(decoding: answer.body, as: UTF8.self) == name else { throw UnexpectedAnswer() }
}

/// Prints the requests per second over HTTP/1.1, through a fetcher with its own client.
@concurrent func measurePlain(at server: Server) async throws {
    let fetcher = AsyncHTTPClientDataFetcher(connectionsPerHost: connections)
    let client = HTTPClient.alone(connectionsPerHost: connections, bodyLimit: limit)
    try await measure(fetcher, against: client, at: server, over: .http1_1, named: "HTTP/1.1")
    try await fetcher.close()
    try await client.shutdown()
}

/// Prints the requests per second over HTTP/2, through a fetcher whose client trusts the certificate of the server.
@concurrent func measureSecure(at server: Server, certificate: String) async throws {
    let client = try HTTPClient.trusting(certificate)
    let fetchersClient = try HTTPClient.trusting(certificate)
    let fetcher = AsyncHTTPClientDataFetcher(client: fetchersClient)
    try await measure(fetcher, against: client, at: server, over: .http2, named: "HTTP/2.0")
    try await fetchersClient.shutdown()
    try await client.shutdown()
}

/// Prints the requests per second through a fetcher, compared with a client alone.
func measure(
    _ fetcher: AsyncHTTPClientDataFetcher,
    against client: HTTPClient,
    at server: Server,
    over version: HTTPVersion,
    named name: String
) async throws {
    let address = server.file.absoluteString
    let request = DataRequest(url: server.file)
    let size = try await fetcher.fetch(request).body.count
    for inFlight in [1, 64, 256] {
        let comparison = try await ThroughputComparison(inFlight: inFlight) {
            let body = try await client.body(at: address, over: version, upTo: limit)
            guard body.readableBytes == size else { throw UnexpectedAnswer() }
        } ours: {
            guard try await fetcher.fetch(request).body.count == size else { throw UnexpectedAnswer() }
        }
        try await check(fetcher, gets: name, from: server)
        printRow("AsyncHTTPClient", over: name, comparison, atLeast: 0.95)
    }
}

/// Prints the requests per second through a fetcher that uses `URLSession`, compared with `URLSession` alone.
@concurrent func measureSession(at server: Server) async throws {
    let fetcher = URLSessionDataFetcher(connectionsPerHost: connections)
    let session = URLSession.alone(connectionsPerHost: connections)
    let request = DataRequest(url: server.file)
    let size = try await fetcher.fetch(request).body.count
    for inFlight in [1, 64] {
        let comparison = try await ThroughputComparison(inFlight: inFlight) {
            guard try await session.data(for: URLRequest(url: server.file)).0.count == size else {
                throw UnexpectedAnswer()
            }
        } ours: {
            guard try await fetcher.fetch(request).body.count == size else { throw UnexpectedAnswer() }
        }
        try await check(fetcher, gets: "HTTP/1.1", from: server)
        printRow("URLSession", over: "HTTP/1.1", comparison, atLeast: 0.97)
    }
    session.invalidateAndCancel()
}

guard CommandLine.arguments.count == 4, let server = Server(CommandLine.arguments[1]),
    let secureServer = Server(CommandLine.arguments[2])
else {
    print("usage: loopback ADDRESS TLS-ADDRESS CERTIFICATE")
    exit(2)
}
print("| in flight | client | protocol | alone/s | ours/s | ratio | at least | busy alone, µs | ours, µs |")
print("|---|---|---|---|---|---|---|---|---|")
try await measurePlain(at: server)
try await measureSecure(at: secureServer, certificate: CommandLine.arguments[3])
try await measureSession(at: server)
