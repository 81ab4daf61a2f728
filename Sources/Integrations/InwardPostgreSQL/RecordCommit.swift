#if PostgreSQL
import Foundation
import InwardRepositories
import InwardTransfers

/// The effect of a commit: what is removed, kept and announced, and the locks that it needs.
///
/// Commits that affect a common key are made one after the other, even if the key has no record. Each key has a lock. Commits
/// that only have a condition about a key share its lock, so that they do not wait for each other. All commits share the
/// store's lock, but one that removes ranges of keys, or affects many keys, holds it alone.
struct RecordCommit: Sendable {
    /// The maximum number of keys that are locked one by one. The server's lock table is small.
    private static let keyLockLimit = 32

    /// The encoded prefixes whose records are removed first.
    private(set) var ranges: [[UInt8]] = []
    /// The encoded keys whose records are removed.
    private(set) var removed: [[UInt8]] = []
    /// The records that are kept, in the order of the changes, which is that of their versions.
    private(set) var kept: [(key: [UInt8], record: StoredRecord)] = []
    /// The encoded keys that are announced, in the order of the changes.
    private(set) var announced: [[UInt8]] = []
    /// The conditions of the commit.
    let conditions: [RecordCondition]

    /// Reduces changes, which are made in order, to their last effects.
    init(_ changes: [RecordChange], if conditions: [RecordCondition]) {
        self.conditions = conditions
        /// The last record under each key, `nil` if it is removed, and the place of the change. A record that replaces a removed
        /// one is new, without the lease of the old one.
        var last: [[UInt8]: (record: StoredRecord?, place: Int, isNew: Bool)] = [:]
        for (place, change) in changes.enumerated() {
            switch change {
            // An expiry that is not a number has always passed.
            case .keep(let record, let key):
                let key = key.encoded
                last[key] = (record.expiry?.isANumber == false ? nil : record, place, last[key]?.isNew ?? false)
            case .remove(let key): last[key.encoded] = (nil, place, true)
            case .removeAll(let key):
                let prefix = key.encoded
                ranges.append(prefix)
                last = last.filter { !$0.key.starts(with: prefix) }
            case .announce(let key): announced.append(key.encoded)
            }
        }
        for (key, change) in last.sorted(by: { $0.value.place < $1.value.place }) {
            if let record = change.record { kept.append((key, record)) }
            if change.record == nil || change.isNew { removed.append(key) }
        }
    }

    /// Whether there is nothing to change, to announce or to check.
    var isEmpty: Bool {
        ranges.isEmpty && removed.isEmpty && kept.isEmpty && announced.isEmpty && conditions.isEmpty
    }

    /// The size of the records, in bytes.
    var byteCount: Int { kept.reduce(0) { $0 + $1.record.bytes.count } }

    /// Returns the statements from the beginning of the transaction to its last change, and the place of the check among them,
    /// or `nil` without conditions.
    func statements(in store: StoreLock) -> (all: [Statement], check: Int?) {
        let keys = Set(removed + kept.map(\.key) + conditions.map(\.key.encoded))
        var statements = [Statement(.begin)]
        if ranges.isEmpty, keys.count <= Self.keyLockLimit {
            statements.append(Statement(.lockStore, [.integer(store.number)]))
            let numbers = Set(keys.map { store.number(of: $0) }).sorted()
            let exclusive = Set(exclusiveKeys.map { store.number(of: $0) })
            let shared = numbers.map { exclusive.contains($0) ? 0 : 1 as Int64 }
            statements.append(Statement(.lockKeys, [.integers(numbers), .integers(shared)]))
        } else {
            statements.append(Statement(.lockStoreAlone, [.integer(store.number)]))
        }
        // The conditions are about the records before the changes, so they are checked first.
        statements += checkStatements
        let check = conditions.isEmpty ? nil : statements.count - 1
        statements += ranges.map { Statement(.removeRange, RecordRange(of: $0).parameters) }
        if !removed.isEmpty { statements.append(Statement(.remove, [.byteArrays(removed)])) }
        if !kept.isEmpty {
            let expiries = kept.map { $0.record.expiry?.timeIntervalSinceReferenceDate }
            statements.append(
                Statement(
                    .keep,
                    [.byteArrays(kept.map(\.key)), .byteArrays(kept.map(\.record.bytes)), .numbers(expiries)]
                )
            )
        }
        if !announced.isEmpty { statements.append(Statement(.announce, [.byteArrays(announced)])) }
        return (statements, check)
    }

    /// The keys that no other commit may use at the same time.
    private var exclusiveKeys: [[UInt8]] {
        let leased = conditions.compactMap { if case .isLeased(let lease) = $0 { lease.key.encoded } else { nil } }
        return removed + kept.map(\.key) + leased
    }

    private var checkStatements: [Statement] {
        guard !conditions.isEmpty else { return [] }
        let keys = conditions.map(\.key.encoded)
        let versions = conditions.map {
            if case .hasVersion(let version, _) = $0 { version.number } else { nil as UInt64? }
        }
        let tokens = conditions.map { if case .isLeased(let lease) = $0 { lease.token } else { nil as UInt64? } }
        let check = Statement(
            .check,
            [
                .byteArrays(keys), .integers(versions.map { $0.map { Int64(bitPattern: $0) } }),
                .integers(tokens.map { $0.map { Int64(bitPattern: $0) } }),
            ]
        )
        let leased = zip(keys, tokens).filter { $0.1 != nil }.map(\.0)
        return leased.isEmpty ? [check] : [Statement(.lockRecords, [.byteArrays(leased)]), check]
    }
}

/// What identifies a session of a connection in the store.
struct StoreSession: Sendable {
    /// The name of the session's row, whose number is that of its last commit.
    private let name: [UInt8]
    /// The number of the last commit.
    private(set) var number: Int64 = 0
    let lock: StoreLock

    init(table: Int64) {
        var generator = SystemRandomNumberGenerator()
        name = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        lock = StoreLock(table: table)
    }

    /// Stores the number of the last commit, as a part of it.
    var statement: Statement { Statement(.session, [.bytes(name), .integer(number)]) }

    /// Reads the number of the last commit that was made.
    var question: Statement { Statement(sql: PreparedStatement.outcome.sql, [.bytes(name)]) }

    mutating func beginCommit() { number += 1 }
}

/// The numbers of the locks of a store and its keys. Two keys can have the same number, and then wait for each other unnecessarily.
struct StoreLock: Sendable {
    /// The number of the store's lock. It belongs to the table, because the locks are those of the whole database.
    let number: Int64

    init(table: Int64) {
        number = Self.number(of: Array("inward".utf8), in: table)
    }

    /// Returns the number of a key's lock.
    func number(of key: [UInt8]) -> Int64 { Self.number(of: key, in: number) }

    /// Returns the number of the claim of a key, which no commit locks.
    func number(ofClaim key: [UInt8]) -> Int64 { Self.number(of: key, in: ~number) }

    private static func number(of bytes: [UInt8], in space: Int64) -> Int64 {
        let identifier = Array("\(space) ".utf8) + bytes
        return Int64(bitPattern: Checksum(of: identifier.span).value)
    }
}

extension RecordCondition {
    /// The key of the record that the condition is about.
    var key: RecordKey {
        switch self {
        case .isAbsent(let key), .hasVersion(_, let key): key
        case .isLeased(let lease): lease.key
        }
    }
}

extension Date {
    fileprivate var isANumber: Bool { !timeIntervalSinceReferenceDate.isNaN }
}
#endif
