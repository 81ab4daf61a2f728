#if SQLite
import GRDB

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
#endif
