#if SQLite
import Foundation
import GRDB
import InwardRecordDirectories
import InwardRepositories

/// Takes out of a damaged database what can be read of it.
struct RecordRescue {
    /// Where it is.
    let path: String

    /// Puts each record that is sound into another database; gives how many there are.
    ///
    /// Where something cannot be read, it goes on from the other end: what lies between two such places is lost.
    func restore(into new: DatabaseQueue) throws -> Int {
        // What cannot be opened has nothing to be taken out.
        guard let old = try? DatabaseConnections.viewer(path) else {
            try new.write { try LossTable(database: $0).addUnknown() }
            return 0
        }
        var count = 0
        try new.writeWithoutTransaction { database in
            let table = RecordTable(database: database)
            try database.inTransaction(.immediate) {
                for order in ["ASC", "DESC"] {
                    try forEachSoundRow(of: old, order) { row in
                        guard let key = row.header.key.flatMap({ RecordKey(encoded: $0) }) else { return }
                        // What was found from the one end is not found again from the other.
                        guard try table.rowAsItIs(for: key.encoded) == nil else { return }
                        _ = try table.apply(.keep(row.record, key))
                        count += 1
                    }
                }
                try RecordTotal(database: database).recount()
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
                let rows = try Row.fetchCursor(
                    database,
                    sql: "SELECT \(RecordRow.columns) FROM records ORDER BY key \(order)"
                )
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
            // The old one ends here.
        }
        if let failure { throw failure }
    }
}

/// Why a database cannot be trusted as it is.
struct DatabaseDamage: Error, Equatable {
    /// What is wrong with it, as a part of a sentence.
    let explanation: String

    init(_ explanation: String) {
        self.explanation = explanation
    }

    /// What an error says of a database; `nil` if it says nothing against it.
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
