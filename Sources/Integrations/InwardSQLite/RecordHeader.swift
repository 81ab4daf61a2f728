#if SQLite
import Foundation
import GRDB
import InwardTransfers

/// What a row of the database says beside its value.
struct RecordHeader: Sendable {
    /// The columns that it is made of, in order.
    static let columns =
        "key, expiry, checksum, valueChecksum, length(value), typeof(value) = 'blob'"
    /// What a record is counted as beside its key and its value, in bytes.
    static let overhead = 32

    /// The key in bytes; `nil` if what is there is none.
    let key: [UInt8]?
    let expiry: Int64?
    let valueChecksum: Int64
    /// Whether it is what was kept once, whatever the value is.
    let isSound: Bool
    /// What the record is counted as.
    let byteCount: Int

    /// Reads a row of the columns.
    init(_ row: Row) {
        let values: [DatabaseValue] = (0..<4).map { row[$0] }
        key = if case .blob(let data) = values[0].storage { Array(data) } else { nil }
        expiry = if case .int64(let bits) = values[1].storage { bits } else { nil }
        byteCount =
            (key?.count ?? 0) + (Int.fromDatabaseValue(row[4] as DatabaseValue) ?? 0) + Self.overhead
        guard let key, expiry != nil || values[1].isNull, row[5] as DatabaseValue == true.databaseValue,
            case .int64(let checksum) = values[2].storage,
            case .int64(let valueChecksum) = values[3].storage
        else {
            (valueChecksum, isSound) = (0, false)
            return
        }
        self.valueChecksum = valueChecksum
        isSound = checksum == Self.checksum(key: key, expiry: expiry, valueChecksum: valueChecksum)
    }

    /// Whether the record has expired by a time.
    func isExpired(at time: Int64) -> Bool {
        if let expiry { expiry <= time } else { false }
    }

    /// Whether these are the bytes that were kept.
    func isFulfilled(by value: [UInt8]) -> Bool {
        isSound && Self.checksum(of: value) == valueChecksum
    }

    /// The checksum of a value.
    static func checksum(of value: [UInt8]) -> Int64 {
        Int64(bitPattern: Checksum(of: value.span).value)
    }

    /// The checksum of what is beside a value, and so of all.
    static func checksum(key: [UInt8], expiry: Int64?, valueChecksum: Int64) -> Int64 {
        var bytes = key
        bytes.reserveCapacity(key.count + 17)
        bytes.append(expiry == nil ? 0 : 1)
        for number in [expiry ?? 0, valueChecksum] {
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        return checksum(of: bytes)
    }
}
#endif
