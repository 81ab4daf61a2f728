/// Detects fetches in flight that a change has overtaken, so that their results are outdated.
///
/// A change is remembered only while a fetch that began before it is in flight. If there are too many changes, they are replaced by
/// a single one that affects everything.
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

    /// Whether fetched results may no longer be cached.
    private(set) var isClosed = false

    /// The number of remembered changes.
    var count: Int { changes.count }

    /// Begins a fetch.
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

/// When a result was requested, and its size.
struct FetchStamp {
    /// The logical time at which the fetch began.
    let tick: ChangeLog.Tick
    /// When the result was requested, by the repository's clock; earlier if an intermediate cache held it.
    let time: Duration
    /// The time since then.
    let age: Duration
    /// The encoded size in bytes.
    var byteCount: Int
    /// Whether the result is in the store already.
    let isFromStore: Bool
    /// The validator of the response, if it is that of the result, and not of a part of it or of more.
    var validator: Validator?

    /// Returns the stamp of one of several equal shares of a result, which has no validator of its own.
    func share(of count: Int) -> Self {
        var share = self
        share.byteCount /= max(1, count)
        share.validator = nil
        return share
    }

    /// Returns the stamp for another repository's cache, at its logical time. The result is in the store that they share.
    func adopted(at tick: ChangeLog.Tick) -> Self {
        Self(tick: tick, time: time, age: age, byteCount: byteCount, isFromStore: true, validator: validator)
    }
}
