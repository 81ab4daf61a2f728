#if SQLite
import Foundation
import GRDB
import InwardRecordDirectories
import InwardRepositories
import InwardTransfers

/// The table of records, ordered by key.
///
/// A damaged key can mislead SQLite's search, which then stops next to the damaged row. The rows adjacent to a missing key, and
/// those at both ends of a range, are therefore checked too. Methods throw ``DamagedRow`` for a damaged row, and
/// ``DatabaseDamage`` for rows that are out of order.
struct RecordTable {
    /// The SQL placeholder for a key. GRDB binds an empty key as `NULL`, which `IFNULL` converts back.
    static let key = "IFNULL(?, x'')"

    let database: Database

    /// Returns the row for a key.
    func row(for key: [UInt8]) throws -> RecordRow? {
        guard let row = try rowAsItIs(for: key) else {
            try checkNeighbors(of: key)
            return nil
        }
        guard row.isSound else { throw DamagedRow(key: row.header.key) }
        return row
    }

    /// Returns the row for a key, sound or not, without checking the adjacent rows.
    func rowAsItIs(for key: [UInt8]) throws -> RecordRow? {
        guard let row = try fetch(RecordRow.columns, key).map({ try RecordRow($0) }) else { return nil }
        try check(row.header, isOf: key)
        return row
    }

    /// Returns the rows whose keys begin with a prefix, in order.
    func rows(under prefix: [UInt8]) throws -> [RecordRow] {
        try rows(under: prefix, after: nil, limit: .max) { _ in true }
    }

    /// Returns the first rows after a key whose keys begin with a prefix and whose headers satisfy a predicate, in order.
    func rows(
        under prefix: [UInt8],
        after last: [UInt8]?,
        limit: Int,
        where isIncluded: (RecordHeader) -> Bool
    ) throws -> [RecordRow] {
        var rows: [RecordRow] = []
        guard limit > 0 else { return [] }
        try forEachRow(RecordRow.columns, under: prefix, after: last) { row, header in
            guard isIncluded(header) else { return true }
            rows.append(try RecordRow(row))
            if rows.last?.isSound != true { throw DamagedRow(key: header.key) }
            return rows.count < limit
        }
        return rows
    }

    /// Returns the stamp of the record for a key, or `nil` if it does not exist or has expired at a time.
    func stamp(of key: [UInt8], at time: Int64) throws -> RecordStamp? {
        guard let header = try header(for: key) else { return nil }
        guard header.isSound else { throw DamagedRow(key: header.key) }
        return header.isExpired(at: time) ? nil : header.stamp
    }

    /// Changes the stamp of a sound row.
    func write(_ stamp: RecordStamp, _ row: RecordHeader) throws {
        guard let key = row.key else { return }
        let statement = try database.cachedStatement(
            sql: "UPDATE stampedRecords SET token = ?, freeSince = ?, checksum = ? WHERE key = \(Self.key)"
        )
        let checksum = RecordHeader.checksum(
            key: key,
            expiry: row.expiry,
            valueChecksum: row.valueChecksum,
            stamp: stamp
        )
        try statement.execute(arguments: [Int64(stamp.token), stamp.freeSince.orderedBits, checksum, Data(key)])
        guard database.changesCount == 1 else { throw DatabaseDamage("a record that was found cannot be leased") }
    }

    /// Returns the headers of the free records whose keys begin with a prefix, in the order in which their last leases ended.
    func freeHeaders(under prefix: [UInt8], limit: Int, at time: Date) throws -> [RecordHeader] {
        var free = FreeRecords<RecordHeader>(limit: limit, at: time)
        try forEachRow(RecordHeader.columns, under: prefix) { _, header in
            if let key = header.key, !header.isExpired(at: time.orderedBits) { free.add(header, header.stamp, key) }
            return true
        }
        return free.records
    }

    /// Applies a change, and returns the difference in stored bytes.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - stamp: Returns the stamp of a record that replaces another one, or `nil`.
    /// - Returns: The difference.
    /// - Throws: An error if the database is damaged or cannot be changed.
    func apply(_ change: RecordChange, _ stamp: (RecordHeader?) -> RecordStamp) throws -> Int {
        switch change {
        case .keep(let record, let key): try keep(record, key.encoded, stamp)
        case .remove(let key): try remove(key.encoded)
        case .removeAll(let key): try removeAll(under: key.encoded)
        case .announce: 0
        }
    }

    /// Returns the range of the keys that begin with a prefix. The end is exclusive.
    static func range(of prefix: [UInt8]) -> (start: Data, end: Data) { (Data(prefix), Data(end(of: prefix))) }

    /// Removes the row for a key, and returns the (negative) difference in stored bytes.
    func remove(_ key: [UInt8]) throws -> Int {
        guard let header = try header(for: key) else { return 0 }
        guard try delete(key) else { throw DatabaseDamage("a record that was found cannot be removed") }
        return -header.byteCount
    }

    /// Removes the row for a key if it expires at a given time, and returns the (negative) difference in stored bytes.
    func removeExpiring(_ key: [UInt8], at time: Int64) throws -> Int {
        guard let header = try header(for: key) else {
            throw DatabaseDamage("its expiry index names a record that does not exist")
        }
        guard header.isSound else { throw DamagedRow(key: header.key) }
        guard header.expiry == time, try delete(key) else {
            throw DatabaseDamage("its expiry index disagrees with a record")
        }
        return -header.byteCount
    }

    /// Deletes the row for a key without checking it, and returns whether it existed.
    func delete(_ key: [UInt8]) throws -> Bool {
        let statement = try database.cachedStatement(sql: "DELETE FROM stampedRecords WHERE key = \(Self.key)")
        try statement.execute(arguments: [Data(key)])
        return database.changesCount == 1
    }

    private func keep(
        _ record: StoredRecord,
        _ key: [UInt8],
        _ stamp: (RecordHeader?) -> RecordStamp
    ) throws -> Int {
        let old = try header(for: key)
        // The lease of a damaged record is not known, and ends.
        let stamp = stamp(old.flatMap { $0.isSound ? $0 : nil })
        let expiry = record.expiry?.orderedBits
        let valueChecksum = RecordHeader.checksum(of: record.bytes)
        let statement = try database.cachedStatement(
            sql: "REPLACE INTO stampedRecords VALUES (\(Self.key), ?, ?, ?, ?, ?, ?, IFNULL(?, x''))"
        )
        try statement.execute(arguments: [
            Data(key), expiry,
            RecordHeader.checksum(key: key, expiry: expiry, valueChecksum: valueChecksum, stamp: stamp),
            valueChecksum, Int64(stamp.version), Int64(stamp.token), stamp.freeSince.orderedBits, Data(record.bytes),
        ])
        return key.count + record.bytes.count + RecordHeader.overhead - (old?.byteCount ?? 0)
    }

    private func removeAll(under prefix: [UInt8]) throws -> Int {
        var (count, byteCount) = (0, 0)
        try forEachRow(RecordHeader.columns, under: prefix) { _, header in
            count += 1
            byteCount += header.byteCount
            return true
        }
        let statement = try database.cachedStatement(
            sql: "DELETE FROM stampedRecords WHERE key >= \(Self.key) AND key < ?"
        )
        try statement.execute(arguments: [Data(prefix), Data(Self.end(of: prefix))])
        guard database.changesCount == count else { throw DatabaseDamage("records that were found cannot be removed") }
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
            sql: "SELECT \(columns) FROM stampedRecords WHERE key = \(Self.key)"
        )
        return try Row.fetchOne(statement, arguments: [Data(key)])
    }

    /// Checks that the row found for a key has that key. A damaged key can misdirect SQLite's search.
    private func check(_ header: RecordHeader, isOf key: [UInt8]) throws {
        guard header.key != key else { return }
        throw header.isSound ? Self.disorder : DamagedRow(key: header.key)
    }

    /// Calls a closure with each row of a range and its header, until it returns `false`. Ends at the first sound row after the
    /// range.
    private func forEachRow(
        _ columns: String,
        under prefix: [UInt8],
        after previous: [UInt8]? = nil,
        _ body: (Row, RecordHeader) throws -> Bool
    ) throws {
        var start = prefix
        // No key precedes this one and follows the previous one.
        if let previous, !previous.lexicographicallyPrecedes(prefix) { start = previous + [0] }
        try checkPredecessor(of: start)
        let statement = try database.cachedStatement(
            sql: "SELECT \(columns) FROM stampedRecords WHERE key >= \(Self.key) ORDER BY key"
        )
        let rows = try Row.fetchCursor(statement, arguments: [Data(start)])
        var last: [UInt8]?
        while let row = try rows.next() {
            let header = RecordHeader(row)
            guard header.isSound, let key = header.key else { throw DamagedRow(key: header.key) }
            guard last.map({ $0.lexicographicallyPrecedes(key) }) ?? !key.lexicographicallyPrecedes(start) else {
                throw Self.disorder
            }
            guard key.starts(with: prefix), try body(row, header) else { return }
            last = key
        }
    }

    /// Checks that the rows adjacent to a missing key are sound and in order.
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
            sql: "SELECT \(RecordHeader.columns) FROM stampedRecords WHERE \(condition) LIMIT 1"
        )
        guard let row = try Row.fetchOne(statement, arguments: [Data(key)]) else { return nil }
        let header = RecordHeader(row)
        guard header.isSound, let key = header.key else { throw DamagedRow(key: header.key) }
        return key
    }

    private static let disorder = DatabaseDamage("its records are out of order")

    /// Returns the smallest byte sequence after all sequences that begin with a prefix.
    private static func end(of prefix: [UInt8]) -> [UInt8] {
        guard let last = prefix.last else {
            // Keys never contain this byte.
            return [0xFF]
        }
        // The last byte terminates a component and is 0.
        return prefix.dropLast() + [last + 1]
    }
}

/// An error for a row that differs from what was stored. A search that ended at such a row cannot be trusted either.
struct DamagedRow: Error {
    /// The row's key, or `nil` if it is not a valid key.
    let key: [UInt8]?
}

/// A row of the table.
struct RecordRow: Sendable {
    /// The columns, in order.
    static let columns = "\(RecordHeader.columns), value"
    /// The same columns of a database without stamps.
    static let columnsWithoutStamps = "\(RecordHeader.columnsWithoutStamps), 0, 0, \(RecordHeader.beginning), value"

    let header: RecordHeader
    let value: [UInt8]

    /// Reads a row with these columns.
    init(_ row: Row) throws {
        header = RecordHeader(row)
        value = try row.withUnsafeData(atIndex: 9) { $0.map { [UInt8]($0) } ?? [] }
    }

    /// Whether the row equals what was stored, according to its checksums.
    var isSound: Bool { header.isFulfilled(by: value) }

    /// The key, the record and the version, or `nil` if the key is not valid.
    var snapshot: RecordSnapshot? {
        header.key.flatMap { RecordKey(encoded: $0) }.map {
            RecordSnapshot(record, under: $0, version: RecordVersion(header.stamp.version))
        }
    }

    /// The stored record.
    var record: StoredRecord {
        StoredRecord(value, expiry: header.expiry.map { Date(orderedBits: $0) })
    }
}

/// A row of the table without its value.
struct RecordHeader: Sendable {
    /// The columns, in order.
    static let columns = "\(columnsWithoutStamps), version, token, freeSince"
    /// The columns that every database has.
    static let columnsWithoutStamps = "key, expiry, checksum, valueChecksum, length(value), typeof(value) = 'blob'"
    /// The date since when the records of an older program are free.
    static let beginning = RecordStamp().freeSince.orderedBits
    /// The number of bytes that each record counts for in addition to its key and value.
    static let overhead = 32

    /// The encoded key, or `nil` if it is not a valid key.
    let key: [UInt8]?
    let expiry: Int64?
    let valueChecksum: Int64
    /// The version of the record, and its last lease.
    let stamp: RecordStamp
    /// Whether the row, not counting its value, equals what was stored.
    let isSound: Bool
    /// The number of bytes that the record counts for.
    let byteCount: Int

    /// Reads a row with these columns.
    init(_ row: Row) {
        let values: [DatabaseValue] = (0..<4).map { row[$0] }
        key = if case .blob(let data) = values[0].storage { Array(data) } else { nil }
        expiry = if case .int64(let bits) = values[1].storage { bits } else { nil }
        byteCount =
            (key?.count ?? 0) + (Int.fromDatabaseValue(row[4] as DatabaseValue) ?? 0) + Self.overhead
        guard let key, expiry != nil || values[1].isNull, row[5] as DatabaseValue == true.databaseValue,
            case .int64(let checksum) = values[2].storage,
            case .int64(let valueChecksum) = values[3].storage, let stamp = Self.stamp(row)
        else {
            (valueChecksum, stamp, isSound) = (0, RecordStamp(), false)
            return
        }
        self.valueChecksum = valueChecksum
        self.stamp = stamp
        isSound =
            checksum == Self.checksum(key: key, expiry: expiry, valueChecksum: valueChecksum, stamp: stamp)
    }

    private static func stamp(_ row: Row) -> RecordStamp? {
        guard let version = RecordNumbers.number(row[6]), let token = RecordNumbers.number(row[7]),
            case .int64(let freeSince) = (row[8] as DatabaseValue).storage
        else { return nil }
        return RecordStamp(version: version, token: token, freeSince: Date(orderedBits: freeSince))
    }

    /// Returns whether the record has expired at a given time.
    func isExpired(at time: Int64) -> Bool {
        if let expiry { expiry <= time } else { false }
    }

    /// Returns whether a value is the one that was stored.
    func isFulfilled(by value: [UInt8]) -> Bool {
        isSound && Self.checksum(of: value) == valueChecksum
    }

    /// Returns the checksum of a value.
    static func checksum(of value: [UInt8]) -> Int64 {
        Int64(bitPattern: Checksum(of: value.span).value)
    }

    /// Returns the checksum of a key, an expiry, the value's checksum and the stamp, and therefore of the whole record. For the
    /// records of an older program, it is the one that the program computed.
    static func checksum(key: [UInt8], expiry: Int64?, valueChecksum: Int64, stamp: RecordStamp) -> Int64 {
        var bytes = key
        bytes.reserveCapacity(key.count + 41)
        bytes.append(expiry == nil ? 0 : 1)
        var numbers = [expiry ?? 0, valueChecksum]
        if stamp != RecordStamp() {
            numbers += [Int64(stamp.version), Int64(stamp.token), stamp.freeSince.orderedBits]
        }
        for number in numbers {
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        return checksum(of: bytes)
    }
}

extension Date {
    /// An integer that sorts like the date, and from which the date can be restored bit for bit.
    ///
    /// NaN counts as the earliest date, so a record with that expiry is never returned.
    var orderedBits: Int64 {
        let seconds = timeIntervalSinceReferenceDate
        return seconds.isNaN ? .min : Self.flipped(Int64(bitPattern: seconds.bitPattern))
    }

    /// Restores a date from its integer.
    init(orderedBits: Int64) {
        self.init(
            timeIntervalSinceReferenceDate: Double(bitPattern: UInt64(bitPattern: Self.flipped(orderedBits)))
        )
    }

    // The bit patterns of negative doubles are in reverse order, apart from the sign.
    private static func flipped(_ bits: Int64) -> Int64 { bits < 0 ? bits ^ .max : bits }
}
#endif
