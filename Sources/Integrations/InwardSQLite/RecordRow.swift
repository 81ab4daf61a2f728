#if SQLite
import Foundation
import GRDB
import InwardRepositories

/// A row of the database.
struct RecordRow: Sendable {
    /// The columns that it is made of, in order.
    static let columns = "\(RecordHeader.columns), value"

    let header: RecordHeader
    let value: [UInt8]

    /// Reads a row of the columns.
    init(_ row: Row) throws {
        header = RecordHeader(row)
        value = try row.withUnsafeData(atIndex: 6) { $0.map { [UInt8]($0) } ?? [] }
    }

    /// Whether it is, byte for byte, what was kept once.
    var isSound: Bool { header.isFulfilled(by: value) }

    /// What was kept.
    var record: StoredRecord {
        StoredRecord(value, expiry: header.expiry.map { Date(orderedBits: $0) })
    }
}
#endif
