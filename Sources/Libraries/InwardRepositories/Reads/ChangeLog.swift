/// A log of changes that detects outdated fetches: those that began before a change of what they fetch.
///
/// The log keeps a change only while a fetch that began before it is in flight. If the log has too many changes, a single
/// change that affects everything replaces them.
struct ChangeLog {
    /// The logical time at which a fetch began, which advances with each change.
    struct Tick: Hashable, Comparable {
        fileprivate let number: UInt64

        static func < (first: Self, second: Self) -> Bool { first.number < second.number }
    }

    private static let maximumChanges = 1_000

    private var now = Tick(number: 0)
    private var underWay: [Tick: Int] = [:]
    private var changes: [(tick: Tick, key: RecordKey)] = []

    /// Whether fetched results must no longer be cached.
    private(set) var isClosed = false

    /// The number of changes in the log.
    var count: Int { changes.count }

    /// Begins a fetch, and returns its logical time.
    mutating func begin() -> Tick {
        underWay[now, default: 0] += 1
        return now
    }

    /// Ends a fetch that began at a tick.
    mutating func end(_ tick: Tick) {
        guard let count = underWay[tick] else { return }
        underWay[tick] = count == 1 ? nil : count - 1
        guard underWay[tick] == nil else { return }
        if let oldest = underWay.keys.min() {
            changes.removeAll { $0.tick <= oldest }
        } else {
            changes = []
        }
    }

    /// Stops the caching of fetched results.
    mutating func close() { isClosed = true }

    /// Records a change of everything under a key.
    mutating func note(_ key: RecordKey) {
        guard !underWay.isEmpty else { return }
        now = Tick(number: now.number + 1)
        if changes.count >= Self.maximumChanges { changes = [(now, [])] } else { changes.append((now, key)) }
    }

    /// Returns whether anything has changed since a fetch began.
    func hasChanged(since tick: Tick) -> Bool { changes.last.map { $0.tick > tick } ?? false }

    /// Returns whether anything with one of these keys has changed since a fetch began.
    func haveChanged(_ keys: [RecordKey], since tick: Tick) -> Bool {
        changes.reversed().prefix { $0.tick > tick }.contains { change in
            keys.contains { change.key.contains($0) }
        }
    }
}

/// The request time of a result, with its size and its validator.
struct FetchStamp {
    /// The logical time at which the fetch began.
    let tick: ChangeLog.Tick
    /// The time of the request, by the repository's clock. If an intermediate cache held the result, the time is earlier by its
    /// age.
    let time: Duration
    /// The duration since ``time``.
    let age: Duration
    /// The encoded size in bytes.
    var byteCount: Int
    /// Whether the result is already in the store.
    let isFromStore: Bool
    /// The generation of the store's records when the fetch began, if instances share the store.
    var generation: CacheGeneration?
    /// The validator of the response, if the result is the complete response.
    var validator: Validator?

    /// Returns the stamp of one entity of a list, with an equal share of the list's size and no validator.
    func share(of count: Int) -> Self {
        var share = self
        share.byteCount /= max(1, count)
        share.validator = nil
        return share
    }

    /// Returns the stamp for a peer's cache, at the peer's logical time. The result is already in the store that they share.
    func adopted(at tick: ChangeLog.Tick) -> Self {
        Self(tick: tick, time: time, age: age, byteCount: byteCount, isFromStore: true, validator: validator)
    }
}
