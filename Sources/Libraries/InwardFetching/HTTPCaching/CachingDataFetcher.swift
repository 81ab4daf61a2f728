import InwardCore
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A data fetcher that answers from a cache while an earlier answer is fresh, as the cache of one user (RFC 9111).
///
/// It keeps successful answers to `GET` which say how long they are fresh, and finds them again by the whole request. An answer
/// that was given in place of another, or came through a redirect, is not kept. A request that wants no copy
/// (`Cache-Control: no-cache`) is asked anew, and its answer kept. A request by a method that is not safe (RFC 9110 section
/// 9.2.1) empties the partition.
public struct CachingDataFetcher: ReportingDataFetcher {
    /// What is wrapped.
    public var base: any DataFetcher
    private let partition: ResponseCache.Partition
    var observers = FetchObservers()

    init(_ base: any DataFetcher, partition: ResponseCache.Partition) {
        self.base = base
        self.partition = partition
    }

    /// That answers are kept.
    public var layer: DataFetcherLayer { DataFetcherLayer(.cache, "answers from memory while an answer is fresh") }

    /// The answer that is kept for a request, or else the wrapped fetcher's.
    ///
    /// - Throws: what the wrapped fetcher throws.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard request.method == .get else { return try await change(request) }
        let directives = request.headerFields.cacheDirectives
        var key = request
        key.headerFields[.cacheControl] = nil
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
        // Also when it fails: what the source did before that is not known. RFC 9111 section 4.4 names the address alone, but
        // a list has many.
        defer { if !request.method.isSafe { partition.removeAll() } }
        return try await base.fetch(request)
    }
}

extension DataFetcher {
    /// This fetcher with a part of a cache in front of it.
    public func caching(in partition: ResponseCache.Partition) -> CachingDataFetcher {
        CachingDataFetcher(self, partition: partition)
    }
}

/// Answers that are fresh, kept in memory for whom they were given to.
///
/// Share one among the sessions of an app, and give each a partition of its own: what is kept in one is found in no other.
public final class ResponseCache: Sendable {
    private let entries: Mutex<ResponseEntries>
    private let stopwatch: Stopwatch
    private let maximumLifetime: Duration
    private let now: @Sendable () -> Date

    /// Makes an empty cache.
    ///
    /// - Parameters:
    ///   - byteLimit: About how many bytes it may take, for all partitions together. What was stored first goes first.
    ///   - maximumLifetime: How long an answer is kept at the most, whatever it says; by default a year.
    ///   - clock: What freshness is told by.
    ///   - now: The date, which tells how old an answer is that says when it was made.
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

    /// How many answers are kept, in all partitions.
    public var count: Int { entries.withLock(\.count) }

    /// How many requests have questions under way.
    var questionCount: Int { entries.withLock(\.questionCount) }

    /// An empty part of the cache that nobody else has.
    public func makePartition() -> Partition {
        Partition(cache: self, number: entries.withLock { $0.openPartition() })
    }

    /// A part of a ``ResponseCache``.
    public struct Partition: Sendable {
        fileprivate let cache: ResponseCache
        fileprivate let number: Int

        /// Forgets what is kept here, and keeps nothing here any more, whatever is under way.
        ///
        /// - Complexity: O(n) in the number of answers that are kept in all partitions.
        public func close() {
            cache.entries.withLock { $0.closePartition(number) }
        }

        /// Forgets what is kept here, and what is under way is not kept.
        ///
        /// - Complexity: O(n) in the number of answers that are kept in all partitions.
        func removeAll() {
            cache.entries.withLock { $0.removeAll(in: number) }
        }

        /// Begins a question, which must be ended.
        func beginQuestion(_ request: DataRequest) -> ResponseEntries.Question {
            let now = cache.stopwatch.elapsed
            return cache.entries.withLock { $0.beginQuestion(request, in: number, at: now) }
        }

        /// Ends a question, whether or not an answer came.
        func end(_ question: ResponseEntries.Question) {
            cache.entries.withLock { $0.end(question) }
        }

        /// The answer that was kept for a request and is still fresh, which says how old it is (RFC 9111 section 5.1); `nil` if
        /// there is none.
        func response(to request: DataRequest) -> DataResponse? {
            let now = cache.stopwatch.elapsed
            guard let (kept, age) = cache.entries.withLock({ $0.response(to: request, in: number, at: now) }) else {
                return nil
            }
            var response = kept
            // In whole seconds, and rather too old than too young.
            let (seconds, attoseconds) = age.components
            response.headerFields[.age] = String(attoseconds > 0 ? seconds + 1 : seconds)
            return response
        }

        /// Keeps an answer as long as it says that it is fresh, and not longer than the cache allows, unless a later question was
        /// answered meanwhile or the partition was emptied.
        ///
        /// An earlier answer gives way in any case: nobody is told what was true before that. An answer that came through a
        /// redirect is not kept, because it is the answer of another address.
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
