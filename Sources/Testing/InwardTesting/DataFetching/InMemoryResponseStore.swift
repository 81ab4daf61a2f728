public import InwardFetching
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A response store in memory, which records commits and fails on demand.
///
/// ```swift
/// func keep(_ request: DataRequest, to client: some DataFetcher, in cache: ResponseCache) async throws {
///     let store = InMemoryResponseStore()
///     let partition = cache.makePartition(.shared, over: store)
///     _ = try await client.caching(in: partition).fetch(request)
///     await partition.flush()
///     print(store.urls)
/// }
/// ```
public final class InMemoryResponseStore: ResponseStore {
    private struct State {
        var responses: [String: [KeptResponse]] = [:]
        var commits: [[ResponseStoreChange]] = []
        var failure: ResponseStoreError?
    }

    private let state = Mutex(State())

    /// Creates an empty store.
    public init() {}

    /// The URLs with responses, in order.
    public var urls: [String] { state.withLock { $0.responses.keys.sorted() } }

    /// The changes of each successful commit.
    public var commits: [[ResponseStoreChange]] { state.withLock(\.commits) }

    /// Makes calls throw an error from now on; `nil` ends that.
    public func fail(with error: ResponseStoreError?) {
        state.withLock { $0.failure = error }
    }

    /// Returns the responses under a URL.
    ///
    /// - Throws: The prescribed `ResponseStoreError`.
    public func responses(for url: String) async throws(ResponseStoreError) -> [KeptResponse] {
        try throwFailure()
        return state.withLock { $0.responses[url] ?? [] }
    }

    /// Returns a page of URLs in their order as strings.
    ///
    /// - Throws: The prescribed `ResponseStoreError`.
    public func metadata(
        after url: String?,
        limit: Int
    ) async throws(ResponseStoreError) -> [(url: String, metadata: [Data])] {
        try throwFailure()
        return state.withLock { state in
            let urls = state.responses.keys.sorted().drop { key in url.map { key <= $0 } ?? false }
            return urls.prefix(limit).map { ($0, (state.responses[$0] ?? []).map(\.metadata)) }
        }
    }

    /// Makes changes, and records them.
    ///
    /// - Throws: The prescribed `ResponseStoreError`.
    public func commit(_ changes: [ResponseStoreChange]) async throws(ResponseStoreError) {
        try throwFailure()
        state.withLock { state in
            state.commits.append(changes)
            for change in changes {
                switch change {
                case .keep(let responses, let url): state.responses[url] = responses
                case .remove(let url): state.responses[url] = nil
                case .removeAll: state.responses = [:]
                }
            }
        }
    }

    private func throwFailure() throws(ResponseStoreError) {
        if let failure = state.withLock(\.failure) { throw failure }
    }
}
