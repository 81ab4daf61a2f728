extension RecordHistory {
    /// Whether the operations have an order in which each could have had its result if they had been performed one after the
    /// other. If one operation ended before another began, they keep their order (Herlihy and Wing, 1990).
    ///
    /// - Complexity: Exponential in the number of clients. The search visits each configuration once (Wing and Gong, 1993, with the
    ///   memoization of Lowe, 2017): each number of operations per client, with each state that they can lead to.
    package var isLinearizable: Bool {
        let changes = entries.filter(\.isChange)
        let operations = Set(entries.map(\.client)).sorted().map { client in
            entries.filter { $0.client == client }.map { entry in
                let isRival = { (change: Entry) in change.client != client && change.overlaps(entry) }
                return (entry: entry, hasRival: entry.isChange && changes.contains(where: isRival))
            }
        }
        var rest = [Configuration(taken: operations.map { _ in 0 }, state: RecordState())]
        var visited = Set(rest)
        while let configuration = rest.popLast() {
            let next = zip(operations, configuration.taken).map { $1 < $0.count ? $0[$1] : nil }
            // An operation that began after this place follows one that is not ordered yet.
            guard let end = next.compactMap({ $0?.entry.response }).min() else { return true }
            for (client, operation) in next.enumerated() {
                guard let (entry, hasRival) = operation, entry.invocation < end else { continue }
                var following = configuration
                guard following.state.permits(entry.operation, besideChange: hasRival) else { continue }
                following.taken[client] += 1
                if visited.insert(following).inserted { rest.append(following) }
            }
        }
        return false
    }

    /// The shortest beginning of the history that is not linearizable, or `nil` if the history is.
    package var shortestViolation: RecordHistory? {
        guard !isLinearizable else { return nil }
        // If a beginning is not linearizable, the longer ones are not either.
        let places = entries.compactMap(\.response).sorted()
        var (low, high) = (0, places.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if prefix(through: places[middle]).isLinearizable { low = middle + 1 } else { high = middle }
        }
        return places.isEmpty ? self : prefix(through: places[low])
    }

    /// The operations that were ordered, which are the first ones of each client, and the state after them.
    private struct Configuration: Hashable {
        var taken: [Int]
        var state: RecordState
    }
}

extension RecordHistory.Entry {
    fileprivate var isChange: Bool { if case .read = operation { false } else { true } }

    fileprivate func overlaps(_ other: RecordHistory.Entry) -> Bool {
        invocation < other.response ?? .max && other.invocation < response ?? .max
    }
}

/// A record and its last lease, as a sequential store would have them.
private struct RecordState: Hashable {
    private struct Stored: Hashable {
        var value: Int
        /// The version, or `nil` before it is read.
        var version: UInt64?
        /// The fencing token of the last lease.
        var token: UInt64?
        var isHeld = false
    }

    private var stored: Stored?
    /// The last version that was read. Versions of later keeps are greater.
    private var lastVersion: UInt64?
    private var lastToken: UInt64?

    /// Performs an operation, and returns whether it can have its result. A lease beside a change or a lease of another client may
    /// find nothing.
    mutating func permits(_ operation: RecordHistory.Operation, besideChange: Bool) -> Bool {
        switch operation {
        case .read(nil): return stored == nil
        case .read(let reading?): return permits(reading)
        case .keep(let value, let condition, let isMade):
            if let condition, let isMet = isMet(condition), isMet != isMade { return false }
            guard isMade else { return condition != nil }
            if case .hasVersion(let version) = condition { lastVersion = version }
            stored = Stored(value: value, token: stored?.token, isHeld: stored?.isHeld ?? false)
            return true
        case .remove:
            stored = nil
            return true
        case .lease(let duration, let token, let reading):
            guard stored?.isHeld == false, lastToken.map({ $0 < token }) ?? true, permits(reading) else { return false }
            lastToken = token
            stored?.token = token
            stored?.isHeld = duration == .hour
            return true
        case .leaseNothing: return stored?.isHeld ?? true || besideChange
        case .extend(let token, let duration, let isExtended):
            guard (stored?.token == token) == isExtended else { return false }
            if isExtended { stored?.isHeld = duration == .hour }
            return true
        }
    }

    /// Returns whether the record can have been read with a value and a version. Remembers the version.
    private mutating func permits(_ reading: RecordHistory.Reading) -> Bool {
        guard let stored, stored.value == reading.value else { return false }
        if let version = stored.version { return version == reading.version }
        guard lastVersion.map({ $0 < reading.version }) ?? true else { return false }
        self.stored?.version = reading.version
        lastVersion = reading.version
        return true
    }

    /// Returns whether a condition is met, or `nil` if both are possible because the version was not read.
    private func isMet(_ condition: RecordHistory.Condition) -> Bool? {
        switch condition {
        case .isAbsent: return stored == nil
        case .isLeased(let token): return stored?.token == token
        case .hasVersion(let version):
            guard let stored else { return false }
            if let current = stored.version { return current == version }
            return lastVersion.map { version <= $0 } ?? false ? false : nil
        }
    }
}
