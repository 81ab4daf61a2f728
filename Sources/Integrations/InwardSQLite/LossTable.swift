#if SQLite
import Foundation
import GRDB
import InwardRecordDirectories
import InwardRepositories

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
