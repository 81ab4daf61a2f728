import InwardCore

/// The key of stored responses.
struct CacheKey: Hashable, Sendable {
    let partition: Int
    /// The URL without its fragment, which is not sent.
    let url: String
    /// The hash of the URL, which selects the shard and then the entry.
    let urlHash: Int

    init(partition: Int, url: String) {
        self.partition = partition
        self.url = url
        urlHash = url.hashValue
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(partition)
        hasher.combine(urlHash)
    }
}

/// Stored responses by partition and URL, within a byte limit, and the requests that may store more.
struct ResponseEntries {
    /// The requests under way for one key.
    private struct RequestsUnderWay {
        var count = 0
        /// The number of the latest request whose response is outdated, because the resource has changed since.
        var outdated = 0
        /// How often the stored responses have changed since the first of the requests began.
        var changes = 0
    }

    private var entries: SieveCache<CacheKey, [StoredResponse]>
    private var underWay: [CacheKey: RequestsUnderWay] = [:]

    init(byteLimit: Int) {
        entries = SieveCache(limit: byteLimit)
    }

    /// The number of stored responses.
    var count: Int { entries.keys.reduce(0) { $0 + (entries.peek($1)?.count ?? 0) } }

    /// The number of URLs with requests under way.
    var underWayCount: Int { underWay.count }

    /// Returns the stored responses for a key, to be used.
    mutating func responses(for key: CacheKey) -> [StoredResponse] { entries.value(for: key) ?? [] }

    /// Returns the stored responses for a key. This does not count as a use.
    func peek(_ key: CacheKey) -> [StoredResponse] { entries.peek(key) ?? [] }

    // MARK: Requests under way

    /// Notes the beginning of a request, and returns how often the responses for its key have changed.
    mutating func begin(_ key: CacheKey) -> Int {
        underWay[key, default: RequestsUnderWay()].count += 1
        return underWay[key]?.changes ?? 0
    }

    mutating func end(_ key: CacheKey) {
        guard var requests = underWay[key] else { return }
        requests.count -= 1
        underWay[key] = requests.count > 0 ? requests : nil
    }

    /// Returns whether the resource has not changed since a request that is under way.
    func isCurrent(_ number: Int, for key: CacheKey) -> Bool { underWay[key].map { number > $0.outdated } ?? true }

    // MARK: Changes

    /// Stores a response, and removes those that it replaces.
    ///
    /// - Parameters:
    ///   - response: The response to a request under way.
    ///   - replaced: The response that it updates; `nil` if it is a new one.
    ///   - key: The key.
    ///   - limit: The highest number of responses for the key.
    /// - Returns: The responses for the key, `nil` if this one is outdated; whether they fit in memory; and the removed ones, which the
    ///   caller must release after it has unlocked.
    mutating func store(
        _ response: StoredResponse,
        replacing replaced: StoredResponse?,
        for key: CacheKey,
        limit: Int
    ) -> (responses: [StoredResponse]?, isInMemory: Bool, removed: [[StoredResponse]]) {
        guard isCurrent(response.number, for: key) else { return (nil, false, []) }
        var responses = entries.peek(key) ?? []
        // The response to a later request that overtook this one is newer.
        if responses.contains(where: { $0.variant == response.variant && $0.number > response.number }) {
            return (nil, false, [])
        }
        underWay[key]?.changes += 1
        responses.removeAll { $0 === replaced || $0.variant == response.variant }
        responses.append(response)
        if responses.count > limit { responses.removeFirst(responses.count - limit) }
        let removed = entries.insert(responses, for: key, cost: responses.reduce(0) { $0 + $1.cost })
        return (responses, entries.peek(key) != nil, removed)
    }

    /// Adds responses from a store, unless there are others by now, or were in the meantime.
    ///
    /// - Parameters:
    ///   - responses: The responses.
    ///   - key: The key.
    ///   - changes: How often its responses had changed when the search began.
    /// - Returns: The responses that they evict, which the caller must release after it has unlocked; `nil` if there are others.
    mutating func load(_ responses: [StoredResponse], for key: CacheKey, since changes: Int) -> [[StoredResponse]]? {
        guard entries.peek(key) == nil, underWay[key]?.changes == changes else { return nil }
        return entries.insert(responses, for: key, cost: responses.reduce(0) { $0 + $1.cost })
    }

    /// Removes a response, if it is older than a request. Responses to earlier requests are not stored.
    mutating func outdate(_ response: StoredResponse?, by number: Int, for key: CacheKey) -> [StoredResponse] {
        noteChange(of: key, outdating: number - 1)
        guard let response, response.number < number, var responses = entries.peek(key) else { return [] }
        responses.removeAll { $0 === response }
        let removed = entries.remove(key) ?? []
        if !responses.isEmpty {
            entries.insert(responses, for: key, cost: responses.reduce(0) { $0 + $1.cost })
        }
        return removed
    }

    /// Removes the responses for a key, because the resource has changed. Responses to requests up to a number are not stored.
    mutating func invalidate(_ key: CacheKey, upTo number: Int) -> [StoredResponse] {
        noteChange(of: key, outdating: number)
        return entries.remove(key) ?? []
    }

    /// Notes that the responses to requests up to a number must not be stored any longer.
    private mutating func noteChange(of key: CacheKey, outdating number: Int) {
        guard let requests = underWay[key] else { return }
        underWay[key]?.outdated = max(requests.outdated, number)
        underWay[key]?.changes += 1
    }

    /// Removes the responses that satisfy a condition.
    mutating func removeAll(where condition: (CacheKey, StoredResponse) -> Bool) -> [[StoredResponse]] {
        var removed: [[StoredResponse]] = []
        for key in entries.keys {
            guard let responses = entries.peek(key) else { continue }
            let remaining = responses.filter { !condition(key, $0) }
            guard remaining.count < responses.count else { continue }
            removed.append(responses)
            entries.remove(key)
            if !remaining.isEmpty {
                entries.insert(remaining, for: key, cost: remaining.reduce(0) { $0 + $1.cost })
            }
        }
        return removed
    }
}
