package import Foundation
package import InwardRepositories

/// The changes of a commit, and the conditions under which it makes them.
package struct RecordCommit: Sendable {
    /// The changes, in order.
    package let changes: [RecordChange]
    /// The conditions, judged when the commit is made.
    package let conditions: [RecordCondition]

    /// Creates a commit.
    package init(_ changes: [RecordChange], if conditions: [RecordCondition] = []) {
        self.changes = changes
        self.conditions = conditions
    }

    /// The size of the records that it stores, in bytes.
    var byteCount: Int {
        changes.reduce(0) { sum, change in
            if case .keep(let record, _) = change { sum + record.bytes.count } else { sum }
        }
    }
}

/// The version of a record, and its last lease.
package struct RecordStamp: Equatable, Sendable {
    /// The maximum version or fencing token. Only a forged file reaches it.
    package static let maximumNumber = UInt64(Int64.max) >> 2

    /// The version, or 0 if an older program stored the record.
    package var version: UInt64 = 0
    /// The fencing token of the last lease, or 0 if there was none.
    package var token: UInt64 = 0
    /// When the last lease ended or ends, or when the record was created if it was never leased.
    package var freeSince: Date = .distantPast

    /// Creates a stamp. The default is that of a record that an older program stored.
    package init(version: UInt64 = 0, token: UInt64 = 0, freeSince: Date = .distantPast) {
        self.version = version
        self.token = token
        self.freeSince = freeSince
    }

    /// The greatest number in the stamp.
    package var lastNumber: UInt64 { max(version, token) }

    /// Returns the stamp of a record that replaces another one. The new record inherits the lease.
    ///
    /// - Parameters:
    ///   - old: The stamp of the other record, or `nil` if it does not exist or has expired.
    ///   - number: The version of the new record.
    ///   - time: The current time.
    /// - Returns: The stamp.
    package static func replacing(_ old: RecordStamp?, _ number: UInt64, at time: Date) -> RecordStamp {
        RecordStamp(version: number, token: old?.token ?? 0, freeSince: old?.freeSince ?? time)
    }

    /// Returns the next version or fencing token.
    package static func number(after number: UInt64) -> UInt64 { min(number + 1, maximumNumber) }

    /// Returns a number that is greater than those that a damaged part of a file may have used.
    package static func numberAfterDamage(_ number: UInt64) -> UInt64 { min(number + 1 << 32, maximumNumber) }

    /// Returns the end of a lease.
    package static func end(of duration: Duration, from time: Date) -> Date {
        time.addingTimeInterval(duration / .seconds(1))
    }
}

extension RecordCondition {
    /// Returns whether the condition is met. The closure returns the stamp of a record, or `nil` if the record does not exist or
    /// has expired.
    package func isMet<Failure: Error>(
        by stamp: (RecordKey) throws(Failure) -> RecordStamp?
    ) throws(Failure) -> Bool {
        switch self {
        case .isAbsent(let key): try stamp(key) == nil
        case .hasVersion(let version, let key): try stamp(key)?.version == version.number
        // A record that was never leased has the token 0.
        case .isLeased(let lease): try stamp(lease.key).map { $0.token > 0 && $0.token == lease.token } ?? false
        }
    }
}

/// Selects the free records whose last leases ended earliest.
package struct FreeRecords<Record: Sendable>: Sendable {
    private struct Element: Sendable {
        let record: Record
        let freeSince: Date
        let key: [UInt8]
    }

    private let limit: Int
    private let time: Date
    private var elements: [Element] = []

    /// Creates an empty selection of records that are free at a time.
    package init(limit: Int, at time: Date) {
        self.limit = max(0, limit)
        self.time = time
    }

    /// Adds a record with an encoded key, if it is free.
    package mutating func add(_ record: Record, _ stamp: RecordStamp, _ key: [UInt8]) {
        // Free in any case if it was never leased, even if the clock has gone back since it was created.
        guard stamp.token == 0 || stamp.freeSince <= time else { return }
        elements.append(Element(record: record, freeSince: stamp.freeSince, key: key))
        // Bounds the memory, and the time to O(n log limit).
        if elements.count > 64, elements.count / 2 > limit { elements = sorted }
    }

    /// The selected records, in the order in which their leases ended, and then in key order.
    package var records: [Record] { sorted.map(\.record) }

    private var sorted: [Element] {
        let sorted = elements.sorted { first, second in
            first.freeSince == second.freeSince
                ? first.key.lexicographicallyPrecedes(second.key) : first.freeSince < second.freeSince
        }
        return Array(sorted.prefix(limit))
    }
}
