#if SQLite
import GRDB
import InwardRecordDirectories

/// The last version or fencing token of a database.
///
/// A second copy with the opposite sign reveals damage.
struct RecordNumbers {
    let database: Database

    /// Returns the last number.
    ///
    /// - Throws: ``DatabaseDamage`` if it is not valid.
    func last() throws -> UInt64 {
        guard let copies = try copies(), let last = copies[0], last == copies[1] else {
            throw DatabaseDamage("its last version is invalid")
        }
        return last
    }

    /// Stores the last number.
    func write(_ last: UInt64) throws {
        try database.cachedStatement(sql: "UPDATE numbers SET last = ?, inverse = ?")
            .execute(arguments: [Int64(last), -Int64(last)])
    }

    /// Leaves out numbers that lost transactions may have used.
    func leap() throws {
        try write(RecordStamp.numberAfterDamage(try last()))
    }

    /// Continues after the last number of a damaged database and of its readable records.
    func restore(from old: DatabaseQueue, _ last: UInt64) throws {
        // One of the copies may be valid. A number that is too large does no harm.
        let copies = (try? old.unsafeRead { try Self(database: $0).copies() }) ?? []
        try write(RecordStamp.numberAfterDamage(copies.compactMap(\.self).reduce(last, max)))
    }

    /// Returns the number that a value represents, or `nil` if it is not valid.
    static func number(_ value: DatabaseValue) -> UInt64? {
        guard case .int64(let number) = value.storage, let number = UInt64(exactly: number),
            number <= RecordStamp.maximumNumber
        else { return nil }
        return number
    }

    private func copies() throws -> [UInt64?]? {
        try Row.fetchOne(database, sql: "SELECT last, -inverse FROM numbers").map { row in
            [Self.number(row[0]), Self.number(row[1])]
        }
    }
}
#endif
