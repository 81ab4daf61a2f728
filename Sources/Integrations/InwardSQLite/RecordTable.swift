#if SQLite
import Foundation
import GRDB
import InwardRecordDirectories
import InwardRepositories

/// The records in a database, which are in the order of their keys.
///
/// A damaged key leads whoever looks for another astray, but never past the damaged one: so where nothing is found, or a
/// range ends, the rows beside that place are looked at too. What is damaged is thrown as ``DamagedRow``, and a place that
/// a row cannot be in as ``DatabaseDamage``.
struct RecordTable {
    /// A key of no bytes is bound as `NULL`.
    static let key = "IFNULL(?, x'')"

    let database: Database

    /// The row that has a key.
    func row(for key: [UInt8]) throws -> RecordRow? {
        guard let row = try rowAsItIs(for: key) else {
            try checkNeighbors(of: key)
            return nil
        }
        guard row.isSound else { throw DamagedRow(key: row.header.key) }
        return row
    }

    /// The row that has a key, sound or not, without a look at those beside it.
    func rowAsItIs(for key: [UInt8]) throws -> RecordRow? {
        guard let row = try fetch(RecordRow.columns, key).map({ try RecordRow($0) }) else { return nil }
        try check(row.header, isOf: key)
        return row
    }

    /// The rows whose keys begin with bytes, in order.
    func rows(under prefix: [UInt8]) throws -> [RecordRow] {
        var rows: [RecordRow] = []
        try forEachRow(RecordRow.columns, under: prefix) { row, header in
            rows.append(try RecordRow(row))
            if rows.last?.isSound != true { throw DamagedRow(key: header.key) }
        }
        return rows
    }

    /// Makes a change. Gives how many bytes more are kept then.
    func apply(_ change: RecordChange) throws -> Int {
        switch change {
        case .keep(let record, let key): try keep(record, key.encoded)
        case .remove(let key): try remove(key.encoded)
        case .removeAll(let key): try removeAll(under: key.encoded)
        }
    }

    /// The range of keys that begin with bytes, and its end.
    static func range(of prefix: [UInt8]) -> (start: Data, end: Data) { (Data(prefix), Data(end(of: prefix))) }

    /// Removes the row that has a key. Gives how many bytes more are kept then, which are fewer.
    func remove(_ key: [UInt8]) throws -> Int {
        guard let header = try header(for: key) else { return 0 }
        guard try delete(key) else { throw DatabaseDamage("a record that is found cannot be removed") }
        return -header.byteCount
    }

    /// Removes the row that has a key and expires at a time. Gives how many bytes more are kept then, which are fewer.
    func removeExpiring(_ key: [UInt8], at time: Int64) throws -> Int {
        guard let header = try header(for: key) else {
            throw DatabaseDamage("it says of a key that it expires, and has none")
        }
        guard header.isSound else { throw DamagedRow(key: header.key) }
        guard header.expiry == time, try delete(key) else {
            throw DatabaseDamage("it says of a record that it expires when it does not")
        }
        return -header.byteCount
    }

    /// Removes the row that has a key, whatever it is; says whether there was one.
    func delete(_ key: [UInt8]) throws -> Bool {
        let statement = try database.cachedStatement(sql: "DELETE FROM records WHERE key = \(Self.key)")
        try statement.execute(arguments: [Data(key)])
        return database.changesCount == 1
    }

    private func keep(_ record: StoredRecord, _ key: [UInt8]) throws -> Int {
        let old = try header(for: key)
        let expiry = record.expiry?.orderedBits
        let valueChecksum = RecordHeader.checksum(of: record.bytes)
        let statement = try database.cachedStatement(
            sql: "REPLACE INTO records VALUES (\(Self.key), ?, ?, ?, IFNULL(?, x''))"
        )
        try statement.execute(arguments: [
            Data(key), expiry,
            RecordHeader.checksum(key: key, expiry: expiry, valueChecksum: valueChecksum),
            valueChecksum, Data(record.bytes),
        ])
        return key.count + record.bytes.count + RecordHeader.overhead - (old?.byteCount ?? 0)
    }

    private func removeAll(under prefix: [UInt8]) throws -> Int {
        var (count, byteCount) = (0, 0)
        try forEachRow(RecordHeader.columns, under: prefix) { _, header in
            count += 1
            byteCount += header.byteCount
        }
        let statement = try database.cachedStatement(
            sql: "DELETE FROM records WHERE key >= \(Self.key) AND key < ?"
        )
        try statement.execute(arguments: [Data(prefix), Data(Self.end(of: prefix))])
        guard database.changesCount == count else { throw DatabaseDamage("records are not where they were found") }
        return -byteCount
    }

    private func header(for key: [UInt8]) throws -> RecordHeader? {
        guard let header = try fetch(RecordHeader.columns, key).map({ RecordHeader($0) }) else {
            try checkNeighbors(of: key)
            return nil
        }
        try check(header, isOf: key)
        return header
    }

    private func fetch(_ columns: String, _ key: [UInt8]) throws -> Row? {
        let statement = try database.cachedStatement(
            sql: "SELECT \(columns) FROM records WHERE key = \(Self.key)"
        )
        return try Row.fetchOne(statement, arguments: [Data(key)])
    }

    /// Sees that what SQLite has found for a key has that key. Where another is damaged, it may have gone astray there.
    private func check(_ header: RecordHeader, isOf key: [UInt8]) throws {
        guard header.key != key else { return }
        throw header.isSound ? Self.disorder : DamagedRow(key: header.key)
    }

    /// Gives each row that has a key of the range, with what is to be known of it, until one is sound and behind that.
    private func forEachRow(
        _ columns: String,
        under prefix: [UInt8],
        _ body: (Row, RecordHeader) throws -> Void
    ) throws {
        try checkPredecessor(of: prefix)
        let statement = try database.cachedStatement(
            sql: "SELECT \(columns) FROM records WHERE key >= \(Self.key) ORDER BY key"
        )
        let rows = try Row.fetchCursor(statement, arguments: [Data(prefix)])
        var last: [UInt8]?
        while let row = try rows.next() {
            let header = RecordHeader(row)
            guard header.isSound, let key = header.key else { throw DamagedRow(key: header.key) }
            guard last.map({ $0.lexicographicallyPrecedes(key) }) ?? !key.lexicographicallyPrecedes(prefix) else {
                throw Self.disorder
            }
            guard key.starts(with: prefix) else { return }
            try body(row, header)
            last = key
        }
    }

    /// Sees that nothing damaged is beside the place where a key would be, and that it is the place.
    private func checkNeighbors(of key: [UInt8]) throws {
        try checkPredecessor(of: key)
        let next = try neighbor("key > \(Self.key) ORDER BY key", key)
        guard next.map({ key.lexicographicallyPrecedes($0) }) ?? true else { throw Self.disorder }
    }

    private func checkPredecessor(of key: [UInt8]) throws {
        let last = try neighbor("key < \(Self.key) ORDER BY key DESC", key)
        guard last.map({ $0.lexicographicallyPrecedes(key) }) ?? true else { throw Self.disorder }
    }

    private func neighbor(_ condition: String, _ key: [UInt8]) throws -> [UInt8]? {
        let statement = try database.cachedStatement(
            sql: "SELECT \(RecordHeader.columns) FROM records WHERE \(condition) LIMIT 1"
        )
        guard let row = try Row.fetchOne(statement, arguments: [Data(key)]) else { return nil }
        let header = RecordHeader(row)
        guard header.isSound, let key = header.key else { throw DamagedRow(key: header.key) }
        return key
    }

    private static let disorder = DatabaseDamage("records of it are out of order")

    /// The first bytes that are behind all that begin with others.
    private static func end(of prefix: [UInt8]) -> [UInt8] {
        guard let last = prefix.last else {
            // No byte of a key is so high.
            return [0xFF]
        }
        // The last byte ends a component, and is 0.
        return prefix.dropLast() + [last + 1]
    }
}
#endif
