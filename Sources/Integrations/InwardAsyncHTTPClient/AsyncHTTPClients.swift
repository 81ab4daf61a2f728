#if AsyncHTTPClient
import AsyncHTTPClient
import InwardFetching
import NIOPosix
import Synchronization

/// The HTTP clients of a fetcher: one that looks up hosts itself, and further ones that connect to a checked address of a host.
///
/// A client of AsyncHTTPClient gets the addresses of hosts when it is created, so each checked address has its own. Guarded
/// fetchers share the clients of the fetcher that they were made of.
final class AsyncHTTPClients: Sendable {
    /// A host, as the client reads it, and the address to connect to. TLS and the `Host` field use the host.
    private struct Pin: Hashable {
        let host: String
        let address: IPAddress
    }

    private struct Entry {
        let client: HTTPClient
        var underWay = 0
        var lastUse = 0
    }

    private struct State {
        var entries: [Pin: Entry] = [:]
        var useCount = 0
        var isClosed = false

        /// Removes and returns the client that was not used for the longest time and has no requests under way, if any.
        mutating func removeIdleClient() -> HTTPClient? {
            let idle = entries.filter { $0.value.underWay == 0 }
            guard let oldest = idle.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return nil }
            entries[oldest.key] = nil
            return oldest.value.client
        }
    }

    /// The client that looks up hosts itself.
    let main: HTTPClient
    /// The configuration of clients for checked addresses, or `nil` if `main` is the caller's.
    private let configuration: HTTPClient.Configuration?
    private let limit: Int
    private let state = Mutex(State())

    /// Uses a client of the caller, which is never closed.
    init(callers client: HTTPClient) {
        main = client
        configuration = nil
        limit = 0
    }

    /// Creates clients with a configuration.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - limit: The maximum number of clients for checked addresses that have no requests under way.
    init(_ configuration: HTTPClient.Configuration, keepingAtMost limit: Int = 64) {
        main = Self.makeClient(configuration)
        self.configuration = configuration
        self.limit = limit
    }

    deinit {
        // In debug builds, a client traps if it is released before it is shut down. This call prevents that: before it returns,
        // it marks the client as shutting down, and it retains the client until the shutdown is done. No fetch is using the
        // clients, because fetches retain this object. If a client is closed already, the callback gets an error, which is
        // ignored.
        guard ownsClients else { return }
        main.shutdown { _ in }
        for entry in state.withLock(\.entries).values { entry.client.shutdown { _ in } }
    }

    /// Whether the clients were created here, so that they have known settings and must be closed.
    var ownsClients: Bool { configuration != nil }

    /// The number of clients for checked addresses.
    var pinnedCount: Int { state.withLock(\.entries.count) }

    /// Returns a client that connects to an address whenever it is asked for a host. The caller must end its use with
    /// ``end(connecting:to:)``.
    ///
    /// - Returns: The client, or `nil` if the clients are closed.
    func begin(connecting host: String, to address: IPAddress) -> HTTPClient? {
        let pin = Pin(host: host, address: address)
        guard var configuration else { return nil }
        let (client, idle) = state.withLock { state -> (HTTPClient?, HTTPClient?) in
            guard !state.isClosed else { return (nil, nil) }
            var idle: HTTPClient?
            state.useCount += 1
            if state.entries[pin] == nil, state.entries.count >= limit { idle = state.removeIdleClient() }
            configuration.dnsOverride = [pin.host: pin.address.description]
            var entry = state.entries[pin] ?? Entry(client: Self.makeClient(configuration))
            entry.underWay += 1
            entry.lastUse = state.useCount
            state.entries[pin] = entry
            return (entry.client, idle)
        }
        idle?.shutdown { _ in }
        return client
    }

    /// Ends the use of a client.
    func end(connecting host: String, to address: IPAddress) {
        let pin = Pin(host: host, address: address)
        let idle = state.withLock { state in
            state.entries[pin]?.underWay -= 1
            return state.entries.count > limit ? state.removeIdleClient() : nil
        }
        idle?.shutdown { _ in }
    }

    /// Closes the clients that were created here. Further calls do nothing.
    ///
    /// - Throws: The error of a client that cannot be shut down.
    func close() async throws {
        guard ownsClients else { return }
        let pinned = state.withLock { state in
            state.isClosed = true
            defer { state.entries = [:] }
            return state.entries.values.map(\.client)
        }
        for client in pinned + [main] {
            do {
                try await client.shutdown()
            } catch let error as HTTPClientError where error == .alreadyShutdown {
                // Another call has closed the client, or is closing it.
            }
        }
    }

    private static func makeClient(_ configuration: HTTPClient.Configuration) -> HTTPClient {
        // Uses the same transport on every platform, so that errors are the same too.
        HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
    }
}
#endif
