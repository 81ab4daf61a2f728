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
        /// What keeps the responses beyond the life of the process; `nil` if nothing does.
        private let keeper: ResponseKeeper?
        /// The searches in the store that concurrent callers share.
        private let searches: SingleFlight<CacheKey, [StoredResponse]?, Never>

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
            /// How often the stored responses for the key had changed.
            fileprivate let changes: Int
        }

        init(
            _ cache: ResponseCache,
            number: Int,
            policy: CachePolicy,
            over store: (any ResponseStore)?,
            report: @escaping @Sendable (ResponseStoreError) -> Void
        ) {
            self.cache = cache
            self.number = number
            self.policy = policy
            flights = SingleFlight(whenAbandoned: .cancel, executor: cache.executor)
            searches = SingleFlight(whenAbandoned: .cancel, executor: cache.executor)
            keeper = store.map { store in
                ResponseKeeper(
                    store,
                    policy: policy,
                    executor: cache.executor,
                    now: { cache.now },
                    makeBody: { cache.body($0) },
                    report: report
                )
            }
        }

        // MARK: Removing responses

        /// Removes the responses of a URL. ``flush()`` waits until a store has done it as well.
        public func remove(_ url: URL) {
            invalidate(key(of: url))
        }

        /// Removes the responses of a URL and of all URLs below it: `https://example.org/a` stands for `https://example.org/a?b`
        /// and `https://example.org/a/b`, but not for `https://example.org/ab`.
        ///
        /// - Complexity: O(n) in the number of responses in all partitions, and in the store of this one.
        public func removeAll(below url: URL) {
            var prefix = key(of: url).url
            if prefix.hasSuffix("/") { prefix.removeLast() }
            removeAll(
                .matching { [prefix] url, _ in
                    guard url.hasPrefix(prefix) else { return false }
                    let next = url.utf8.dropFirst(prefix.utf8.count).first
                    return next == nil || next == UInt8(ascii: "/") || next == UInt8(ascii: "?")
                }
            )
        }

        /// Removes the responses with a tag. The upstream names the tags of a response in `Cache-Tag`, separated by commas.
        ///
        /// - Complexity: O(n) in the number of responses in all partitions, and in the store of this one.
        public func removeAll(tagged tag: String) {
            removeAll(
                .matching { _, headerFields in
                    headerFields.values(of: .cacheTag).contains { value in
                        value.utf8.split(separator: UInt8(ascii: ",")).contains { $0.trimmed == tag }
                    }
                }
            )
        }

        /// Empties the partition. Responses to requests under way are not stored.
        ///
        /// - Complexity: O(n) in the number of responses in all partitions, and in the store of this one.
        public func removeAll() {
            removeAll(.all)
        }

        /// Empties the partition, and stores nothing in it from now on, not even responses to requests under way.
        ///
        /// - Complexity: O(n) in the number of responses in all partitions, and in the store of this one.
        public func close() {
            version.store(.min, ordering: .sequentiallyConsistent)
            flights.cancelAll()
            removeAll(.all)
        }

        private func removeAll(_ purge: ResponseKeeper.Purge) {
            // First, so that a response that is stored after this has asked a newer upstream, and any other is found below.
            let begin = { _ = self.version.add(1, ordering: .sequentiallyConsistent) }
            let isFirst = keeper?.purge(purge, begin: begin) ?? false
            if keeper == nil { begin() }
            flights.detachAll()
            searches.detachAll()
            cache.removeAll { key, response in
                key.partition == number && purge.applies(to: key.url, response.headerFields)
            }
            if isFirst { keeper?.startWriting() }
        }

        // MARK: The store

        /// Waits until the store has made the changes so far. Call it before the program ends, and after ``close()`` and the other
        /// methods that remove something, which return before the store has removed it.
        ///
        /// ```swift
        /// func signOut(_ session: ResponseCache.Partition) async {
        ///     session.close()
        ///     if await !session.flush() { print("Responses of the user may still be in the store.") }
        /// }
        /// ```
        ///
        /// - Returns: Whether it has made them; `false` if the store failed, the task was cancelled, or its deadline passed.
        @discardableResult
        public func flush() async -> Bool { await keeper?.flush() ?? true }

        /// Whether responses that are not in memory may be in a store.
        var hasStore: Bool { keeper != nil }

        /// Returns the responses for a key from the store, and brings them to memory if they fit.
        ///
        /// - Returns: The responses; `nil` if it is unknown what the store has, because it failed, or if they have changed since.
        func load(_ key: CacheKey) async -> [StoredResponse]? {
            let outcome = await searches.outcome(for: key) { [self] _ in
                let begun = begin(key)
                defer { end(begun) }
                guard let responses = await keeper?.responses(for: key.url) else { return nil }
                if responses.isEmpty { return [] }
                let evicted = cache.withEntries(for: key) { entries in
                    isCurrent(begun, in: entries) ? entries.load(responses, for: key, since: begun.changes) : nil
                }
                return evicted == nil ? nil : responses
            }
            if case .fulfilled(.success(let responses)) = outcome { return responses }
            return nil
        }

        /// Lets the store have the responses for a key, or nothing if some were removed by a condition since a request began. Call it
        /// while the entries are locked, so that both change in the same order.
        ///
        /// - Returns: Whether the caller must start to write when it has unlocked them.
        private func mirror(_ responses: [StoredResponse], for begun: Begun) -> Bool {
            guard let keeper else { return false }
            return keeper.change(begun.key.url, to: responses) {
                begun.version == version.load(ordering: .sequentiallyConsistent)
            }
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
            let (number, sent) = (cache.nextNumber(), cache.now)
            let version = version.load(ordering: .sequentiallyConsistent)
            let changes = cache.withEntries(for: key) { $0.begin(key) }
            return Begun(key: key, number: number, sent: sent, version: version, changes: changes)
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
            let (isStored, isFirst, _) = cache.withEntries(for: begun.key) {
                entries -> (Bool, Bool, [[StoredResponse]]) in
                guard isCurrent(begun, in: entries) else { return (false, false, []) }
                let (responses, isInMemory, removed) = entries.store(
                    response,
                    replacing: replaced,
                    for: begun.key,
                    limit: policy.variantLimit
                )
                guard let responses else { return (false, false, removed) }
                let isStored = isInMemory || keeper != nil && response.mayLeaveMemory
                return (isStored, mirror(responses, for: begun), removed)
            }
            if isFirst { keeper?.startWriting() }
            return isStored
        }

        /// Removes a response that the upstream has replaced by one that is not stored. Responses to earlier requests that are still
        /// under way are outdated as well.
        ///
        /// - Parameters:
        ///   - response: The response; `nil` if none in memory matches.
        ///   - begun: The request with the newer response.
        ///   - mayBeInStore: Whether the store may have responses that are not in memory.
        /// - Returns: Whether the store has to remove something.
        func outdate(_ response: StoredResponse?, by begun: Begun, mayBeInStore: Bool) -> Bool {
            let isMirrored = keeper != nil && (response != nil || mayBeInStore)
            let (isFirst, _) = cache.withEntries(for: begun.key) { entries -> (Bool, [StoredResponse]) in
                let removed = entries.outdate(response, by: begun.number, for: begun.key)
                return (isMirrored && mirror(entries.peek(begun.key), for: begun), removed)
            }
            if isFirst { keeper?.startWriting() }
            return isMirrored
        }

        /// Removes the responses of a key. Responses to requests under way are not stored.
        func invalidate(_ key: CacheKey) {
            flights.detachAll()
            searches.detachAll()
            let number = cache.nextNumber()
            let (isFirst, _) = cache.withEntries(for: key) { entries -> (Bool, [StoredResponse]) in
                let removed = entries.invalidate(key, upTo: number)
                return (keeper?.change(key.url, to: []) ?? false, removed)
            }
            if isFirst { keeper?.startWriting() }
        }
    }
}
