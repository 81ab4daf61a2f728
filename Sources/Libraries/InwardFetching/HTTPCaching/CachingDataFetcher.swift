import InwardCore
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A data fetcher that serves fresh responses from a private cache (RFC 9111).
///
/// ```swift
/// let cached = client.caching(in: cache.makePartition())
/// _ = try await cached.fetch(request)
/// print(try await cached.fetch(request).origin)  // memory, if the first response is fresh
/// ```
///
/// It stores responses to `GET` with the status 200 and a `max-age`, keyed by the whole request. It does not store fallbacks or
/// redirected responses. A request with a `Cache-Control` directive, such as `no-cache`, goes to the upstream, and its response
/// is stored unless the directive is `no-store`. A request with an unsafe method (RFC 9110 section 9.2.1) empties the
/// partition.
public struct CachingDataFetcher: ReportingDataFetcher {
    /// The wrapped fetcher.
    public var base: any DataFetcher
    private let partition: ResponseCache.Partition
    var observers = FetchObservers()

    init(_ base: any DataFetcher, partition: ResponseCache.Partition) {
        self.base = base
        self.partition = partition
    }

    /// The description of this layer.
    public var layer: DataFetcherLayer { DataFetcherLayer(.cache, "serves fresh responses from memory") }

    /// Returns the cached response, or else the response of the wrapped fetcher.
    ///
    /// - Throws: Errors of the wrapped fetcher.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard request.method == .get else { return try await change(request) }
        let directives = request.headerFields.cacheDirectives
        var key = request
        // A conditional request asks whether there is another version. A fresh copy answers that too.
        for name in [.cacheControl, .ifNoneMatch, .ifModifiedSince] as [HeaderField.Name] {
            key.headerFields[name] = nil
        }
        if directives.isEmpty, var kept = partition.response(to: key) {
            kept.origin = .memory
            observers.tell { $0.answeredFromCache(request) }
            return kept
        }
        let question = partition.beginQuestion(key)
        defer { partition.end(question) }
        let response = try await base.fetch(request)
        if response.status == .ok, response.fallbackReason == nil, directives["no-store"] == nil {
            partition.store(response, asked: question)
        }
        return response
    }

    private func change(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        // A failed request counts too, because the upstream may have made the change before it failed. RFC 9111 section 4.4
        // invalidates only the URL of the request, but the change may also affect other URLs, such as those of lists.
        defer { if !request.method.isSafe { partition.removeAll() } }
        return try await base.fetch(request)
    }
}

extension DataFetcher {
    /// Returns this fetcher with a cache.
    ///
    /// ```swift
    /// let session = cache.makePartition()
    /// let cached = orders.caching(in: session)
    /// ```
    public func caching(in partition: ResponseCache.Partition) -> CachingDataFetcher {
        CachingDataFetcher(self, partition: partition)
    }
}

/// An in-memory cache of responses, divided into private partitions.
///
/// Share one cache among all sessions of an app, and create a partition for each session: partitions do not share responses.
///
/// ```swift
/// let cache = ResponseCache(byteLimit: 10_000_000, clock: ContinuousClock())
/// let partition = cache.makePartition()
/// let cached = orders.caching(in: partition)
/// partition.close()  // At sign-out.
/// ```
public final class ResponseCache: Sendable {
    private let entries: Mutex<ResponseEntries>
    private let stopwatch: Stopwatch
    private let maximumLifetime: Duration
    private let now: @Sendable () -> Date

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - byteLimit: The approximate maximum number of bytes in all partitions together. Above it, responses that were not
    ///     read again are evicted first, starting with the oldest.
    ///   - maximumLifetime: The maximum time for which a response is stored, whatever it declares; by default, a year.
    ///   - clock: The clock that measures freshness.
    ///   - now: Returns the current date, which determines the age of a response from its `Date` header field.
    public init(
        byteLimit: Int,
        maximumLifetime: Duration = .seconds(31_536_000),
        clock: some Clock<Duration>,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        entries = Mutex(ResponseEntries(byteLimit: byteLimit))
        stopwatch = Stopwatch(clock)
        self.maximumLifetime = maximumLifetime
        self.now = now
    }

    /// The number of responses in all partitions.
    public var count: Int { entries.withLock(\.count) }

    /// The number of distinct requests under way.
    var questionCount: Int { entries.withLock(\.questionCount) }

    /// Creates an empty partition.
    public func makePartition() -> Partition {
        Partition(cache: self, number: entries.withLock { $0.openPartition() })
    }

    /// A partition of a ``ResponseCache``.
    public struct Partition: Sendable {
        fileprivate let cache: ResponseCache
        fileprivate let number: Int

        /// Empties the partition, and stores nothing in it from now on, not even responses under way.
        ///
        /// - Complexity: O(n) in the number of responses in all partitions.
        public func close() {
            cache.entries.withLock { $0.closePartition(number) }
        }

        /// Empties the partition. Responses under way are not stored.
        ///
        /// - Complexity: O(n) in the number of responses in all partitions.
        func removeAll() {
            cache.entries.withLock { $0.removeAll(in: number) }
        }

        /// Begins a request, which the caller must end.
        func beginQuestion(_ request: DataRequest) -> ResponseEntries.Question {
            let now = cache.stopwatch.elapsed
            return cache.entries.withLock { $0.beginQuestion(request, in: number, at: now) }
        }

        /// Ends a request, whether or not it was answered.
        func end(_ question: ResponseEntries.Question) {
            cache.entries.withLock { $0.end(question) }
        }

        /// Returns the fresh response to a request, with its age (RFC 9111 section 5.1); `nil` if there is none.
        func response(to request: DataRequest) -> DataResponse? {
            let now = cache.stopwatch.elapsed
            guard let (kept, age) = cache.entries.withLock({ $0.response(to: request, in: number, at: now) }) else {
                return nil
            }
            var response = kept
            // Whole seconds, rounded up so that the response never appears fresher than it is.
            let (seconds, attoseconds) = age.components
            response.headerFields[.age] = String(attoseconds > 0 ? seconds + 1 : seconds)
            return response
        }

        /// Stores a response while it is fresh, up to the maximum lifetime of the cache, unless a later request was answered or
        /// the partition was emptied in the meantime.
        ///
        /// The previous response is removed in any case, because it is outdated. A redirected response is not stored, because
        /// it belongs to another URL.
        func store(_ response: DataResponse, asked question: ResponseEntries.Question) {
            let now = cache.stopwatch.elapsed
            let age = response.headerFields.initialAge(after: now - question.time, at: cache.now())
            let lifetime = response.headerFields.freshnessLifetime.map { min($0, cache.maximumLifetime) }
            let isFresh = response.url == nil && lifetime.map { age < $0 } ?? false
            let bytes = response.bytesToKeep(for: question.key.request)
            cache.entries.withLock {
                $0.store(
                    response,
                    asked: question,
                    madeAt: now - age,
                    until: isFresh ? lifetime.map { now - age + $0 } : nil,
                    bytes: bytes
                )
            }
        }
    }
}
