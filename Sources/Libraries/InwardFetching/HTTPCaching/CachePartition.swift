import InwardCore
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension ResponseCache {
    /// A partition of a ``ResponseCache``, which no other partition shares responses with.
    ///
    /// ```swift
    /// let session = cache.makePartition()
    /// let cached = orders.caching(in: session)
    /// session.removeAll(tagged: "orders")
    /// ```
    public final class Partition: Sendable {
        let cache: ResponseCache
        /// The rules of the partition.
        public let policy: CachePolicy
        private let number: Int
        /// The number of times that responses were removed by a condition; negative if the partition is closed.
        private let version = Atomic(0)
        /// The requests that concurrent callers share.
        let flights: SingleFlight<FlightKey, UpstreamAnswer, FetchError>

        /// A key of requests that can share an answer.
        struct FlightKey: Hashable, Sendable {
            let key: CacheKey
            /// The variant, if it is known which fields the response depends on.
            let variant: Variant?
        }

        /// A request under way, which may store its response.
        struct Begun: Sendable {
            let key: CacheKey
            let number: Int
            let sent: CacheMoment
            fileprivate let version: Int
        }

        init(_ cache: ResponseCache, number: Int, policy: CachePolicy) {
            self.cache = cache
            self.number = number
            self.policy = policy
            flights = SingleFlight(whenAbandoned: .cancel, executor: cache.executor)
        }

        // MARK: Removing responses

        /// Removes the responses of a URL.
        public func remove(_ url: URL) {
            invalidate(key(of: url))
        }

        /// Removes the responses of a URL and of all URLs below it: `https://example.org/a` stands for `https://example.org/a?b`
        /// and `https://example.org/a/b`, but not for `https://example.org/ab`.
        ///
        /// - Complexity: O(n) in the number of responses in all partitions.
        public func removeAll(below url: URL) {
            var prefix = key(of: url).url
            if prefix.hasSuffix("/") { prefix.removeLast() }
            removeAll { key, _ in
                guard key.url.hasPrefix(prefix) else { return false }
                let next = key.url.utf8.dropFirst(prefix.utf8.count).first
                return next == nil || next == UInt8(ascii: "/") || next == UInt8(ascii: "?")
            }
        }

        /// Removes the responses with a tag. The upstream names the tags of a response in `Cache-Tag`, separated by commas.
        ///
        /// - Complexity: O(n) in the number of responses in all partitions.
        public func removeAll(tagged tag: String) {
            removeAll { _, response in
                response.headerFields.values(of: .cacheTag).contains { value in
                    value.split(separator: ",").contains { Substring($0).utf8.trimmed == tag }
                }
            }
        }

        /// Empties the partition. Responses to requests under way are not stored.
        ///
        /// - Complexity: O(n) in the number of responses in all partitions.
        public func removeAll() {
            removeAll { _, _ in true }
        }

        /// Empties the partition, and stores nothing in it from now on, not even responses to requests under way.
        ///
        /// - Complexity: O(n) in the number of responses in all partitions.
        public func close() {
            version.store(.min, ordering: .sequentiallyConsistent)
            flights.cancelAll()
            removeAll { _, _ in true }
        }

        private func removeAll(where condition: (CacheKey, StoredResponse) -> Bool) {
            // First, so that a response that is stored after this has asked a newer upstream, and any other is found below.
            version.add(1, ordering: .sequentiallyConsistent)
            flights.detachAll()
            cache.removeAll { key, response in key.partition == number && condition(key, response) }
        }

        // MARK: For the data fetcher

        func key(of url: URL) -> CacheKey {
            let text = url.absoluteString
            // The URL knows whether it has one, which is faster than a search.
            guard url.fragment(percentEncoded: true) != nil, let end = text.utf8.firstIndex(of: UInt8(ascii: "#"))
            else {
                return CacheKey(partition: number, url: text)
            }
            return CacheKey(partition: number, url: String(text[..<end]))
        }

        func responses(for key: CacheKey) -> [StoredResponse] {
            cache.withEntries(for: key) { $0.responses(for: key) }
        }

        /// Begins a request, which the caller must end.
        func begin(_ key: CacheKey) -> Begun {
            let begun = Begun(
                key: key,
                number: cache.nextNumber(),
                sent: cache.now,
                version: version.load(ordering: .sequentiallyConsistent)
            )
            cache.withEntries(for: key) { $0.begin(key) }
            return begun
        }

        /// Ends a request, whether or not it was answered.
        func end(_ begun: Begun) {
            cache.withEntries(for: begun.key) { $0.end(begun.key) }
        }

        /// Returns whether nothing was removed since a request began.
        func isCurrent(_ begun: Begun) -> Bool {
            cache.withEntries(for: begun.key) { isCurrent(begun, in: $0) }
        }

        private func isCurrent(_ begun: Begun, in entries: ResponseEntries) -> Bool {
            begun.version >= 0 && begun.version == version.load(ordering: .sequentiallyConsistent)
                && entries.isCurrent(begun.number, for: begun.key)
        }

        /// Stores a response unless the resource may have changed since its request.
        ///
        /// - Returns: Whether it was stored.
        func store(_ response: StoredResponse, replacing replaced: StoredResponse? = nil, for begun: Begun) -> Bool {
            let (isStored, _) = cache.withEntries(for: begun.key) { entries -> (Bool, [[StoredResponse]]) in
                guard isCurrent(begun, in: entries) else { return (false, []) }
                return entries.store(response, replacing: replaced, for: begun.key, limit: policy.variantLimit)
            }
            return isStored
        }

        /// Removes a response that the upstream has replaced by one that is not stored. Responses to earlier requests that are still
        /// under way are outdated as well.
        func outdate(_ response: StoredResponse?, by begun: Begun) {
            _ = cache.withEntries(for: begun.key) { $0.outdate(response, by: begun.number, for: begun.key) }
        }

        /// Removes the responses of a key. Responses to requests under way are not stored.
        func invalidate(_ key: CacheKey) {
            flights.detachAll()
            let number = cache.nextNumber()
            _ = cache.withEntries(for: key) { $0.invalidate(key, upTo: number) }
        }
    }
}
