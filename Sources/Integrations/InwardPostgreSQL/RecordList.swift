#if PostgreSQL
import Foundation
import InwardRepositories

/// Reads ranges of records in the order of their keys.
struct RecordList {
    typealias Entry = (key: RecordKey, record: StoredRecord)

    let connection: ServerConnection
    let end: ContinuousClock.Instant

    /// Returns all records in a range.
    func records(in range: RecordRange) throws(ServerError) -> [Entry] {
        try rows(of: range, limit: .max).sorted { $0.key < $1.key }
    }

    /// Returns the first records of a range whose keys follow a key.
    func page(of range: RecordRange, after last: RecordKey?, limit: Int) throws(ServerError) -> [Entry] {
        var range = range
        if let last { range.begin(after: last.encoded) }
        var found: [Entry] = []
        while found.count < limit {
            var page = try rows(of: range, limit: limit - found.count)
            let isWhole = page.count < limit - found.count
            if let key = page.last?.key.encoded {
                range.begin(after: key)
                // The rest of the group can contain keys that precede those on the page.
                if RecordRange.isLong(key) {
                    page.removeAll { RecordRange.areGrouped($0.key.encoded, key) }
                    page += try rows(of: range.group(of: key), limit: .max).filter {
                        RecordRange.areGrouped($0.key.encoded, key)
                    }
                    range.begin(afterGroupOf: key)
                }
            }
            found += page.filter { entry in last.map { $0 < entry.key } ?? true }
            if isWhole { break }
        }
        return Array(found.sorted { $0.key < $1.key }.prefix(max(0, limit)))
    }

    private func rows(of range: RecordRange, limit: Int) throws(ServerError) -> [Entry] {
        let statement = Statement(.list, range.parameters + [.integer(Int64(limit))])
        return try connection.run([statement], within: end - .now).first?.compactMap { row in
            row.bytes(0).flatMap { RecordKey(encoded: $0) }.map { (key: $0, record: StoredRecord(row, value: 1)) }
        } ?? []
    }
}

extension StoredRecord {
    /// Reads a record from a row, with its value in a column and its expiry in the next one.
    init(_ row: Row, value: Int) {
        self.init(
            row.bytes(value) ?? [],
            expiry: row.number(value + 1).map { Date(timeIntervalSinceReferenceDate: $0) }
        )
    }
}

extension RecordSnapshot {
    /// Reads a snapshot from a row, with the value, the expiry and the version in columns next to each other.
    init(_ row: Row, under key: RecordKey, value: Int) {
        self.init(
            StoredRecord(row, value: value),
            under: key,
            version: RecordVersion(UInt64(bitPattern: row.integer(value + 2) ?? 0))
        )
    }
}
#endif
