public import InwardRepositories

extension SharedRecordStoreConformance {
    /// Checks that leases end when their time is over, and that records are leased in the order in which they became free.
    ///
    /// ```swift
    /// import Synchronization
    ///
    /// let time = Mutex(Date())
    /// let conformance = SharedRecordStoreConformance(isDurable: false, now: Date())
    /// try await conformance.checkTime {
    ///     InMemoryRecordStore(now: { time.withLock { $0 } })
    /// } advance: { duration in
    ///     time.withLock { $0 += duration / .seconds(1) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - open: Opens a store.
    ///   - step: How far the clock advances at a time. The leases of the check last for one or two steps.
    ///   - advance: Advances the store's clock by a duration. The clock advances at no other time.
    /// - Throws: A ``ConformanceFailure`` that lists all violations.
    public func checkTime(
        _ open: @Sendable () async throws -> any SharedRecordStore,
        step: Duration = .seconds(3_600),
        advance: @Sendable (Duration) async throws -> Void
    ) async throws(ConformanceFailure) {
        var violations: [String] = []
        do {
            let store = try await open()
            try await store.commit([.removeAll([])])
            violations += try await orderViolations(store, step, advance)
            try await store.commit([.removeAll([])])
            violations += try await endViolations(store, step, advance)
        } catch {
            violations.append("The store must not fail, but did: \(error)")
        }
        if !violations.isEmpty { throw ConformanceFailure(violations: violations) }
    }

    private func orderViolations(
        _ store: any SharedRecordStore,
        _ step: Duration,
        _ advance: @Sendable (Duration) async throws -> Void
    ) async throws -> [String] {
        let keys: [RecordKey] = [["order", "2"], ["order", "3"], ["order", "1"]]
        for key in keys {
            try await store.commit([.keep(StoredRecord([1]), key)])
            try await advance(step)
        }
        func next(_ limit: Int = 1) async throws -> [RecordLease] {
            let leases = try await store.lease(under: ["order"], limit: limit, for: .zero).map(\.lease)
            try await advance(step)
            return leases
        }
        // Each lease ends at once, so the records take turns.
        for round in 0..<7 {
            guard try await next().map(\.key) == [keys[round % 3]] else {
                return [
                    round < 3
                        ? "A record that was never leased must be free since its creation, but is not."
                        : "The record that became free first must be leased first, but is not."
                ]
            }
        }
        // The second of the keys became free first, and the first of them last.
        var violations: [String] = []
        if try await store.lease(under: ["order"], limit: 2, for: .zero).map(\.lease.key) != [keys[1], keys[2]] {
            violations.append("The records that became free first must be leased in this order, but are not.")
        }
        try await advance(step)
        // The extended lease ends after all others.
        guard let extended = try await next().first, extended.key == keys[0] else {
            return violations + ["The record that became free first must be leased first, but is not."]
        }
        _ = try await store.extend(extended, for: step * 3)
        _ = try await next(2)
        for _ in 0..<3 { try await advance(step) }
        let last = try await store.lease(under: ["order"], limit: 3, for: .zero).map(\.lease.key).last
        if last != keys[0] {
            violations.append("A record must be leased in the order of the end of its extended lease, but is not.")
        }
        return violations
    }

    private func endViolations(
        _ store: any SharedRecordStore,
        _ step: Duration,
        _ advance: @Sendable (Duration) async throws -> Void
    ) async throws -> [String] {
        let key: RecordKey = ["ends"]
        try await store.commit([.keep(StoredRecord([1]), key)])
        func lease(for duration: Duration) async throws -> RecordLease? {
            try await store.lease(under: key, limit: 1, for: duration).first?.lease
        }
        guard let first = try await lease(for: step * 2) else { return ["A free record must be leased, but is not."] }
        try await advance(step)
        var violations: [String] = []
        if try await lease(for: step) != nil { violations.append("A lease must not end early, but does.") }
        if try await !store.extend(first, for: step * 2) {
            violations.append("The last lease of a record must be extended, but is not.")
        }
        try await advance(step)
        if try await lease(for: step) != nil {
            violations.append("An extended lease must last for a duration from the extension, but ends early.")
        }
        try await advance(step)
        if try await !isMade([], if: [.isLeased(first)], in: store) {
            violations.append("A lease that has ended must still be the last one if nobody leased again, but is not.")
        }
        guard let second = try await lease(for: step * 2) else {
            return violations + ["A lease must end when its time is over, but does not."]
        }
        let isLeased = try await isMade([], if: [.isLeased(first)], in: store)
        let isExtended = try await store.extend(first, for: step)
        if isLeased || isExtended {
            violations.append("A lease that has ended must be fenced by the next one, but is not.")
        }
        // A keep does not make the lease longer or shorter.
        try await advance(step)
        try await store.commit([.keep(StoredRecord([2]), key)])
        if try await lease(for: step) != nil { violations.append("A keep must not end a lease, but does.") }
        try await advance(step)
        guard let third = try await lease(for: .zero), third.token > second.token else {
            return violations + ["A lease must end when its time is over, but does not."]
        }
        return violations
    }
}
