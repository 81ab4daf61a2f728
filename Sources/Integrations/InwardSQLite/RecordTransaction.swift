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
    let time: Int64
    let path: String

    /// Applies all commits, or none if one of them fails.
    ///
    /// - Returns: The first commit that cannot be applied, or `nil` if all were applied.
    /// - Throws: An error that affects all commits.
    func commit(
        _ group: [[RecordChange]],
        _ isAboutToBeFlushed: () throws -> Void
    ) throws -> FailedCommit? {
        var failed: FailedCommit?
        try database.inTransaction(.immediate) {
            let table = RecordTable(database: database)
            let total = RecordTotal(database: database)
            let losses = LossTable(database: database)
            let before = try total.byteCount()
            var byteCount = before
            for (index, changes) in group.enumerated() {
                do {
                    for change in changes {
                        byteCount += try table.apply(change)
                        try losses.remove(change)
                    }
                } catch {
                    // Damage affects all commits.
                    guard !(error is DamagedRow), DatabaseDamage(error) == nil else { throw error }
                    failed = FailedCommit(index: index, error: RecordStoreError(error, path: path))
                    return .rollback
                }
            }
            byteCount += try evict(beyond: byteCount)
            if byteCount != before { try total.write(byteCount) }
            try isAboutToBeFlushed()
            return .commit
        }
        return failed
    }

    /// Removes expired records and, while the limit is exceeded, further records in order of their expiry. Returns the (negative)
    /// difference in stored bytes.
    private func evict(beyond byteCount: Int) throws -> Int {
        let table = RecordTable(database: database)
        let statement = try database.cachedStatement(
            sql: """
                SELECT expiry, key FROM records WHERE expiry IS NOT NULL ORDER BY expiry LIMIT \(Self.batchCount)
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
struct FailedCommit: Sendable {
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
                sql: "SELECT SUM(length(key) + length(value) + \(RecordHeader.overhead)) FROM records"
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
