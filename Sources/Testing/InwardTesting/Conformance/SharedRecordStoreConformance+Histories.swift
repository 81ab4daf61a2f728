import InwardRepositories
import Synchronization

extension SharedRecordStoreConformance {
    /// Concurrent operations on a record are linearizable.
    func historyViolations(_ stores: [any SharedRecordStore]) async throws(RecordStoreError) -> [String] {
        let key: RecordKey = ["history", "1"]
        for seed: UInt64 in 1...12 {
            try await stores[0].commit([.removeAll([])])
            let recorder = RecordHistoryRecorder()
            let interleaving: Interleaving = seed % 2 == 0 ? .threads : .turns
            let found = await interleaving.violations(clients: 4) { number in
                var client = RecordClient(number, of: stores[number % 2], key, recorder, seed: seed)
                return await failures {
                    for _ in 0..<12 { try await client.act() }
                    return []
                }
            }
            // The history is not complete if an operation failed.
            guard found.isEmpty else { return found }
            for (number, store) in stores.enumerated() {
                try await RecordClient(number, of: store, key, recorder, seed: seed).end()
            }
            guard let violation = recorder.history.shortestViolation else { continue }
            return ["Concurrent operations must be linearizable, but those of seed \(seed) are not: \(violation)."]
        }
        return []
    }
}

/// A client of a store that performs random operations on a record, and records them.
private struct RecordClient {
    private let number: Int
    private let store: any SharedRecordStore
    private let key: RecordKey
    private let recorder: RecordHistoryRecorder
    private var generator: SplitMix64
    private var step = 0
    /// What the client read last.
    private var snapshot: RecordSnapshot?
    private var lease: RecordLease?
    private var isNewLease = false

    init(
        _ number: Int,
        of store: any SharedRecordStore,
        _ key: RecordKey,
        _ recorder: RecordHistoryRecorder,
        seed: UInt64
    ) {
        self.number = number
        self.store = store
        self.key = key
        self.recorder = recorder
        generator = SplitMix64(seed: seed &* 16 &+ UInt64(number))
    }

    /// Performs a random operation.
    mutating func act() async throws(RecordStoreError) {
        step += 1
        for _ in 0..<Int.random(in: 0...2, using: &generator) { await Task.yield() }
        // A lease is soon fenced, so it is used as often before that as after it.
        if isNewLease, Bool.random(using: &generator) { return try await useLease() }
        switch Int.random(in: 0..<16, using: &generator) {
        case 0..<3: try await read()
        case 3..<6: try await keep(if: .isUnchanged(key, since: snapshot))
        case 6: try await keep(if: nil)
        case 7: try await remove()
        case 8: try await takeLease(.hour)
        case 9..<11: try await takeLease(.zero)
        default: try await useLease()
        }
    }

    private mutating func useLease() async throws(RecordStoreError) {
        guard let lease else { return try await takeLease(.zero) }
        isNewLease = false
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: try await keep(if: .isLeased(lease))
        case 1: try await extend(lease, .hour)
        default: try await extend(lease, .zero)
        }
    }

    /// Reads the record as the last operation of a history.
    func end() async throws(RecordStoreError) {
        var client = self
        try await client.read()
    }

    private mutating func read() async throws(RecordStoreError) {
        var found: RecordSnapshot?
        try await recorder.record(by: number) { () async throws(RecordStoreError) in
            found = try await store.snapshot(for: key)
            return .read(found.map(Self.reading))
        }
        snapshot = found
    }

    private mutating func keep(if condition: RecordCondition?) async throws(RecordStoreError) {
        let change = RecordChange.keep(StoredRecord([UInt8(number), UInt8(step)]), key)
        try await recorder.record(by: number) { () async throws(RecordStoreError) in
            var isMade = true
            do throws(RecordStoreError) {
                try await store.commit([change], if: condition.map { [$0] } ?? [])
            } catch {
                guard error.reason == .conflict else { throw error }
                isMade = false
            }
            return .keep(number * 256 + step, if: condition.map(Self.condition), isMade: isMade)
        }
    }

    private func remove() async throws(RecordStoreError) {
        try await recorder.record(by: number) { () async throws(RecordStoreError) in
            try await store.commit([.remove(key)])
            return .remove
        }
    }

    private mutating func takeLease(_ duration: RecordHistory.LeaseDuration) async throws(RecordStoreError) {
        var taken: (lease: RecordLease, snapshot: RecordSnapshot)?
        try await recorder.record(by: number) { () async throws(RecordStoreError) in
            taken = try await store.lease(under: key, limit: 1, for: Self.time(duration)).first
            return taken.map { .lease(duration, token: $0.lease.token, Self.reading($0.snapshot)) } ?? .leaseNothing
        }
        guard let taken else { return }
        (lease, snapshot, isNewLease) = (taken.lease, taken.snapshot, true)
    }

    private mutating func extend(
        _ lease: RecordLease,
        _ duration: RecordHistory.LeaseDuration
    ) async throws(RecordStoreError) {
        var isLast = true
        try await recorder.record(by: number) { () async throws(RecordStoreError) in
            let isExtended = try await store.extend(lease, for: Self.time(duration))
            isLast = isExtended
            return .extend(token: lease.token, duration, isExtended: isExtended)
        }
        if !isLast { self.lease = nil }
    }

    private static func time(_ duration: RecordHistory.LeaseDuration) -> Duration {
        duration == .hour ? .seconds(3_600) : .zero
    }

    /// Returns what was read. The bytes name the client that kept the record and its step.
    private static func reading(_ snapshot: RecordSnapshot) -> RecordHistory.Reading {
        RecordHistory.Reading(
            snapshot.record.bytes.reduce(0) { $0 &* 256 &+ Int($1) },
            version: snapshot.version.number
        )
    }

    private static func condition(_ condition: RecordCondition) -> RecordHistory.Condition {
        switch condition {
        case .isAbsent: .isAbsent
        case .hasVersion(let version, _): .hasVersion(version.number)
        case .isLeased(let lease): .isLeased(token: lease.token)
        }
    }
}
