#if SQLite
import Foundation
import GRDB
import InwardRecordDirectories
import InwardRepositories

/// Recovers the readable records of a damaged database.
struct RecordRescue {
    /// The path of the damaged database.
    let path: String

    /// Copies the readable, sound records to another database, and returns their number.
    ///
    /// The records are read from both ends, so only those between the first and the last unreadable place are lost.
    func restore(into new: DatabaseQueue) throws -> Int {
        // A database that cannot be opened has no recoverable records.
        guard let old = try? DatabaseConnections.viewer(path) else {
            try new.write { database in
                try RecordNumbers(database: database).leap()
                try LossTable(database: database).addUnknown()
            }
            return 0
        }
        var count = 0
        try new.writeWithoutTransaction { database in
            let table = RecordTable(database: database)
            try database.inTransaction(.immediate) {
                var last: UInt64 = 0
                for order in ["ASC", "DESC"] {
                    try forEachSoundRow(of: old, order) { row in
                        last = max(last, row.header.stamp.lastNumber)
                        guard let key = row.header.key.flatMap({ RecordKey(encoded: $0) }) else { return }
                        // The scan from the other end may have copied this record already.
                        guard try table.rowAsItIs(for: key.encoded) == nil else { return }
                        _ = try table.apply(.keep(row.record, key)) { _ in row.header.stamp }
                        count += 1
                    }
                }
                try RecordTotal(database: database).recount()
                try RecordNumbers(database: database).restore(from: old, last)
                try LossTable(database: database).restore(from: old)
                return .commit
            }
        }
        return count
    }

    private func forEachSoundRow(
        of old: DatabaseQueue,
        _ order: String,
        _ body: (RecordRow) throws -> Void
    ) throws {
        var failure: (any Error)?
        do {
            try old.unsafeRead { database in
                // An older program has another table.
                let source =
                    try database.tableExists("stampedRecords")
                    ? "\(RecordRow.columns) FROM stampedRecords" : "\(RecordRow.columnsWithoutStamps) FROM records"
                let rows = try Row.fetchCursor(database, sql: "SELECT \(source) ORDER BY key \(order)")
                while let row = try rows.next() {
                    let row = try RecordRow(row)
                    guard row.isSound else { continue }
                    do { try body(row) } catch {
                        failure = error
                        return
                    }
                }
            }
        } catch {
            // The readable part ends here.
        }
        if let failure { throw failure }
    }
}

/// An error for a database whose contents cannot be trusted.
struct DatabaseDamage: Error, Equatable {
    /// The description of the damage, as a clause in which “it” is the database.
    let explanation: String

    init(_ explanation: String) {
        self.explanation = explanation
    }

    /// Converts an error that indicates damage. Returns `nil` for other errors.
    init?(_ error: any Error) {
        if let damage = error as? DatabaseDamage {
            self = damage
        } else if let error = error as? DatabaseError,
            [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode)
        {
            self.init(error.message ?? "it cannot be read")
        } else {
            return nil
        }
    }
}
#endif
