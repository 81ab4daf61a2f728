/// Which of the fetches that are under way were overtaken by a change, so that what they bring is older than what is known.
///
/// It remembers changes no longer than there is somebody who began before them, and of very many it remembers that there were
/// some of everything.
struct ChangeLog {
    /// When a fetch began, as changes count the time.
    struct Tick: Hashable, Comparable {
        fileprivate let number: UInt64

        static func < (first: Self, second: Self) -> Bool { first.number < second.number }
    }

    private static let maximumChanges = 1_000

    private var now = Tick(number: 0)
    private var underWay: [Tick: Int] = [:]
    private var changes: [(tick: Tick, key: RecordKey)] = []

    /// Whether nothing that is fetched is to be kept any more.
    private(set) var isClosed = false

    /// How many changes are remembered.
    var count: Int { changes.count }

    /// Begins a fetch.
    mutating func begin() -> Tick {
        underWay[now, default: 0] += 1
        return now
    }

    /// Ends a fetch that was begun at a tick.
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

    /// Has nothing kept any more that is fetched.
    mutating func close() { isClosed = true }

    /// Notes that everything under a key is different from now on.
    mutating func note(_ key: RecordKey) {
        guard !underWay.isEmpty else { return }
        now = Tick(number: now.number + 1)
        if changes.count >= Self.maximumChanges { changes = [(now, [])] } else { changes.append((now, key)) }
    }

    /// Whether anything was changed since a fetch began.
    func hasChanged(since tick: Tick) -> Bool { changes.last.map { $0.tick > tick } ?? false }

    /// Whether something with one of these keys was changed since a fetch began.
    func haveChanged(_ keys: [RecordKey], since tick: Tick) -> Bool {
        changes.reversed().prefix { $0.tick > tick }.contains { change in
            keys.contains { change.key.contains($0) }
        }
    }
}

/// When something that is to be kept was asked for, and what it takes to keep it.
struct FetchStamp {
    /// When it was begun, as changes count the time.
    let tick: ChangeLog.Tick
    /// When it was asked for, by the clock of the repository; earlier, if it was kept on the way.
    let time: Duration
    /// How long ago that is.
    let age: Duration
    /// How many bytes it has as it was written.
    let byteCount: Int
    /// Whether it was read from the store, which then has it.
    let isFromStore: Bool
}
