#if SQLite
import Foundation
import GRDB
import InwardRecordDirectories
import InwardRepositories

/// Commits that are made durable together.
struct RecordTransaction {
    /// How many records that have expired go with one transaction, so that nobody waits for long.
    private static let expiredLimit = 256
    /// How many are looked up at a time.
    private static let batchCount = 64

    let database: Database
    let byteLimit: Int
    let time: Int64
    let path: String

    /// Makes commits, all or none of them. Gives the one that is in the way of the others, if there is one; `nil` if all are made.
    ///
    /// - Throws: what went wrong for all of them.
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
                    // Damage is in the way of all.
                    guard !(error is DamagedRow), DatabaseDamage(error) == nil else { throw error }
                    failed = FailedCommit(index: index, error: RecordStoreError(error, path: path))
                    return .rollback
                }
            }
            byteCount += try letGo(beyond: byteCount)
            if byteCount != before { try total.write(byteCount) }
            try isAboutToBeFlushed()
            return .commit
        }
        return failed
    }

    /// Removes records that expire, those first that do so first: what has expired, and as many as there is no room for.
    /// Gives how many bytes more are kept then, which are fewer.
    private func letGo(beyond byteCount: Int) throws -> Int {
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
                else { throw DatabaseDamage("it does not know what expires") }
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

/// A commit that could not be made where others were to be made with it.
struct FailedCommit: Sendable {
    /// Where it is among them.
    let index: Int
    /// What went wrong.
    let error: RecordStoreError
}

/// How many bytes the records of a database are counted as, which is written down so that it need not be counted.
///
/// It is written twice, once with the other sign, so that a damaged number is none.
struct RecordTotal {
    let database: Database

    /// The number.
    ///
    /// - Throws: ``DatabaseDamage`` if it is none.
    func byteCount() throws -> Int {
        if let row = try Row.fetchOne(
            database.cachedStatement(sql: "SELECT byteCount, inverse FROM total")
        ),
            let byteCount = Int.fromDatabaseValue(row[0] as DatabaseValue),
            let inverse = Int.fromDatabaseValue(row[1] as DatabaseValue), byteCount >= 0, inverse == -byteCount
        {
            return byteCount
        }
        throw DatabaseDamage("it does not know how much it holds")
    }

    /// Counts what is kept, and writes that. It takes time in proportion to the number of records.
    func recount() throws {
        let byteCount =
            try Int.fetchOne(
                database,
                sql: "SELECT SUM(length(key) + length(value) + \(RecordHeader.overhead)) FROM records"
            ) ?? 0
        try write(byteCount)
    }

    /// Writes the number.
    func write(_ byteCount: Int) throws {
        try database.cachedStatement(sql: "UPDATE total SET byteCount = ?, inverse = ?")
            .execute(arguments: [byteCount, -byteCount])
    }
}

/// What a database knows to have lost: the keys of damaged records without an expiry, and how many times it lost unknown ones.
struct LossTable {
    let database: Database

    /// The losses among the keys that begin with bytes.
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

    /// Counts damage that may have hit unknown keys.
    func addUnknown() throws {
        try write(unknownCount: try unknownCount() + 1)
    }

    /// Removes the keys that a change makes known again.
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

    /// Adds the losses of a damaged database, and one more of unknown keys.
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
        else { throw DatabaseDamage("it does not know how much it has lost") }
        return count
    }

    private func write(unknownCount: Int) throws {
        try database.cachedStatement(sql: "UPDATE unknownLosses SET count = ?, inverse = ?")
            .execute(arguments: [unknownCount, -unknownCount])
    }
}
#endif
