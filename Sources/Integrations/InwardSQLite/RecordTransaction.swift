#if SQLite
import Foundation
import GRDB
import InwardRecordDirectories
import InwardRepositories

/// A transaction for a group of commits.
struct RecordTransaction {
    /// The maximum number of expired records that one transaction removes. The limit keeps transactions short.
    private static let expiredLimit = 256
    /// The number of expired records that are looked up at a time.
    private static let batchCount = 64

    let database: Database
    let byteLimit: Int
    let now: Date
    let path: String

    private var time: Int64 { now.orderedBits }
    private var table: RecordTable { RecordTable(database: database) }
    private var numbers: RecordNumbers { RecordNumbers(database: database) }

    /// Applies all commits whose conditions are met, or none if one of them fails for another reason.
    ///
    /// - Returns: The outcomes, or the first commit that cannot be applied.
    /// - Throws: An error that affects all commits.
    func commit(
        _ group: [RecordCommit],
        _ isAboutToBeFlushed: () throws -> Void
    ) throws -> Result<[RecordCommitQueue.Outcome], FailedCommit> {
        var outcomes: [RecordCommitQueue.Outcome] = []
        var failed: FailedCommit?
        try database.inTransaction(.immediate) {
            let total = RecordTotal(database: database)
            let before = try total.byteCount()
            let lastBefore = try numbers.last()
            var (byteCount, last) = (before, lastBefore)
            for (index, commit) in group.enumerated() {
                do {
                    if let conflict = try conflict(of: commit) {
                        outcomes.append(.failure(conflict))
                        continue
                    }
                    byteCount += try apply(commit.changes, &last)
                    outcomes.append(.success(()))
                } catch {
                    // Damage affects all commits.
                    guard !(error is DamagedRow), DatabaseDamage(error) == nil else { throw error }
                    failed = FailedCommit(index: index, error: RecordStoreError(error, path: path))
                    return .rollback
                }
            }
            byteCount += try evict(beyond: byteCount)
            if byteCount != before { try total.write(byteCount) }
            if last != lastBefore { try numbers.write(last) }
            try isAboutToBeFlushed()
            return .commit
        }
        return failed.map { .failure($0) } ?? .success(outcomes)
    }

    /// Leases free records, in the order in which their last leases ended.
    func lease(
        under prefix: [UInt8],
        limit: Int,
        for duration: Duration,
        _ isAboutToBeFlushed: () throws -> Void
    ) throws -> [(lease: RecordLease, snapshot: RecordSnapshot)] {
        var leases: [(lease: RecordLease, snapshot: RecordSnapshot)] = []
        try database.inTransaction(.immediate) {
            let free = try table.freeHeaders(under: prefix, limit: limit, at: now)
            guard !free.isEmpty else { return .rollback }
            var last = try numbers.last()
            for header in free {
                guard let key = header.key, let snapshot = try table.row(for: key)?.snapshot else { continue }
                last = RecordStamp.number(after: last)
                var stamp = header.stamp
                (stamp.token, stamp.freeSince) = (last, RecordStamp.end(of: duration, from: now))
                try table.write(stamp, header)
                leases.append((RecordLease(snapshot.key, token: last), snapshot))
            }
            try numbers.write(last)
            try isAboutToBeFlushed()
            return .commit
        }
        return leases
    }

    /// Changes the end of a lease, and returns whether it was still the last one of its record.
    func extend(
        _ lease: RecordLease,
        for duration: Duration,
        _ isAboutToBeFlushed: () throws -> Void
    ) throws -> Bool {
        var isLast = false
        try database.inTransaction(.immediate) {
            guard let row = try table.row(for: lease.key.encoded), !row.header.isExpired(at: time),
                lease.token > 0, row.header.stamp.token == lease.token
            else { return .rollback }
            isLast = true
            var stamp = row.header.stamp
            stamp.freeSince = RecordStamp.end(of: duration, from: now)
            try table.write(stamp, row.header)
            try isAboutToBeFlushed()
            return .commit
        }
        return isLast
    }

    /// Returns the error of the first condition that is not met.
    private func conflict(of commit: RecordCommit) throws -> RecordStoreError? {
        let condition = try commit.conditions.first { condition in
            try !condition.isMet { try table.stamp(of: $0.encoded, at: time) }
        }
        return condition.map { .conflict($0) }
    }

    /// Applies changes, and returns the difference in stored bytes.
    private func apply(_ changes: [RecordChange], _ last: inout UInt64) throws -> Int {
        let losses = LossTable(database: database)
        var byteCount = 0
        for change in changes {
            if case .keep = change { last = RecordStamp.number(after: last) }
            byteCount += try table.apply(change) { old in
                .replacing(old.flatMap { $0.isExpired(at: time) ? nil : $0.stamp }, last, at: now)
            }
            try losses.remove(change)
        }
        return byteCount
    }

    /// Removes expired records and, while the limit is exceeded, further records in order of their expiry. Returns the (negative)
    /// difference in stored bytes.
    private func evict(beyond byteCount: Int) throws -> Int {
        let statement = try database.cachedStatement(
            sql: """
                SELECT expiry, key FROM stampedRecords WHERE expiry IS NOT NULL ORDER BY expiry LIMIT \(Self.batchCount)
                """
        )
        var (difference, expiredCount) = (0, 0)
        while true {
            let rows = try Row.fetchAll(statement)
            for row in rows {
                guard case .int64(let expiry) = (row[0] as DatabaseValue).storage,
                    case .blob(let key) = (row[1] as DatabaseValue).storage
                else { throw DatabaseDamage("its expiry index is invalid") }
                if byteCount + difference <= byteLimit {
                    guard expiry <= time, expiredCount < Self.expiredLimit else { return difference }
                    expiredCount += 1
                }
                difference += try table.removeExpiring(Array(key), at: expiry)
            }
            if rows.count < Self.batchCount { return difference }
        }
    }
}

/// A commit in a group that could not be applied.
struct FailedCommit: Error {
    /// The index of the commit in the group.
    let index: Int
    /// The error of the commit.
    let error: RecordStoreError
}

/// The total size of a database's records in bytes, which is stored so that it need not be recomputed.
///
/// A second copy with the opposite sign reveals damage.
struct RecordTotal {
    let database: Database

    /// Returns the total.
    ///
    /// - Throws: ``DatabaseDamage`` if it is not valid.
    func byteCount() throws -> Int {
        if let row = try Row.fetchOne(
            database.cachedStatement(sql: "SELECT byteCount, inverse FROM total")
        ),
            let byteCount = Int.fromDatabaseValue(row[0] as DatabaseValue),
            let inverse = Int.fromDatabaseValue(row[1] as DatabaseValue), byteCount >= 0, inverse == -byteCount
        {
            return byteCount
        }
        throw DatabaseDamage("its total size is invalid")
    }

    /// Recomputes and stores the total. Takes time proportional to the number of records.
    func recount() throws {
        let byteCount =
            try Int.fetchOne(
                database,
                sql: "SELECT SUM(length(key) + length(value) + \(RecordHeader.overhead)) FROM stampedRecords"
            ) ?? 0
        try write(byteCount)
    }

    /// Stores the total.
    func write(_ byteCount: Int) throws {
        try database.cachedStatement(sql: "UPDATE total SET byteCount = ?, inverse = ?")
            .execute(arguments: [byteCount, -byteCount])
    }
}

/// The losses of a database: the keys of lost records without an expiry, and the number of times that damage affected unknown
/// keys.
struct LossTable {
    let database: Database

    /// Returns the losses among the keys that begin with a prefix.
    func losses(under prefix: [UInt8]) throws -> RecordLosses {
        let (start, end) = RecordTable.range(of: prefix)
        let statement = try database.cachedStatement(
            sql: "SELECT key FROM losses WHERE key >= \(RecordTable.key) AND key < ? ORDER BY key"
        )
        let keys = try DatabaseValue.fetchAll(statement, arguments: [start, end]).compactMap { value -> RecordKey? in
            if case .blob(let data) = value.storage { RecordKey(encoded: Array(data)) } else { nil }
        }
        return RecordLosses(keys: keys, unknownCount: try unknownCount())
    }

    /// Adds the key of a lost record.
    func add(_ key: [UInt8]) throws {
        try database.cachedStatement(sql: "INSERT OR IGNORE INTO losses VALUES (\(RecordTable.key))")
            .execute(arguments: [Data(key)])
    }

    /// Counts damage that may have affected unknown keys.
    func addUnknown() throws {
        try write(unknownCount: try unknownCount() + 1)
    }

    /// Removes the keys whose state a change makes known again.
    func remove(_ change: RecordChange) throws {
        switch change {
        case .keep(_, let key), .remove(let key):
            try database.cachedStatement(sql: "DELETE FROM losses WHERE key = \(RecordTable.key)")
                .execute(arguments: [Data(key.encoded)])
        case .removeAll(let key):
            let (start, end) = RecordTable.range(of: key.encoded)
            try database.cachedStatement(sql: "DELETE FROM losses WHERE key >= \(RecordTable.key) AND key < ?")
                .execute(arguments: [start, end])
        case .announce: break
        }
    }

    /// Copies the losses of a damaged database, and counts one more loss of unknown keys.
    func restore(from old: DatabaseQueue) throws {
        let losses = (try? old.unsafeRead { try Self(database: $0).losses(under: []) }) ?? RecordLosses()
        for key in losses.keys { try add(key.encoded) }
        try write(unknownCount: losses.unknownCount + 1)
    }

    private func unknownCount() throws -> Int {
        guard
            let row = try Row.fetchOne(database.cachedStatement(sql: "SELECT count, inverse FROM unknownLosses")),
            let count = Int.fromDatabaseValue(row[0] as DatabaseValue),
            let inverse = Int.fromDatabaseValue(row[1] as DatabaseValue), count >= 0, inverse == -count
        else { throw DatabaseDamage("its loss count is invalid") }
        return count
    }

    private func write(unknownCount: Int) throws {
        try database.cachedStatement(sql: "UPDATE unknownLosses SET count = ?, inverse = ?")
            .execute(arguments: [unknownCount, -unknownCount])
    }
}
#endif
