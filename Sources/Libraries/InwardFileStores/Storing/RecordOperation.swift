import Foundation
import InwardRecordDirectories
import InwardTransfers

/// A change as stored in the log, with encoded keys.
enum RecordOperation: Equatable, Sendable {
    case keep([UInt8], RecordEntry)
    case remove([UInt8])
    case removeAll([UInt8])
    /// Marks a record without an expiry as lost to damage.
    case lose([UInt8])
    /// Sets the number of times that damage has hit unknown keys.
    case setUnknownLossCount(Int)
    /// Sets the number of commits that changed records without an expiry, before and after this commit.
    case setDurableCount(before: Int, after: Int)
    /// Leases a record, or changes the end of its last lease.
    case lease([UInt8], token: UInt64, end: Date)
    /// States that the numbers up to this one have been used as versions or fencing tokens.
    case setLastNumber(UInt64)
    /// Marks a part of the log before this point as unreadable. The scan adds this operation; it is never stored.
    case findGap
}

/// The location of a record in the log, and what is known about the record without reading it.
struct RecordEntry: Equatable, Sendable {
    /// The offset of the bytes.
    var offset: Int
    /// The number of bytes.
    let length: Int
    /// The checksum of the bytes.
    let checksum: UInt64
    /// The time at which the record expires.
    let expiry: Date?
    /// The version of the record, and its last lease.
    var stamp = RecordStamp()

    /// Returns whether the record is expired at a time.
    func isExpired(at time: Date) -> Bool {
        if let expiry { !(time < expiry) } else { false }
    }

    /// Returns whether the bytes match the length and the checksum.
    func isFulfilled(by bytes: [UInt8]) -> Bool {
        bytes.count == length && Checksum(of: bytes.span).value == checksum
    }
}

/// Encodes and decodes operations.
///
/// An encoded operation consists of its code, the length of its key, and the key. A stored record adds its length, its checksum,
/// its expiry and its stamp. Records that an older program stored have no stamp.
enum RecordOperationCoding {
    private enum Kind: UInt8 {
        case keep = 1
        case keepUntil
        case remove
        case removeAll
        case lose
        case setUnknownLossCount
        case setDurableCount
        case keepStamped
        case keepStampedUntil
        case lease
        case setLastNumber

        /// Whether the record has an expiry.
        var expires: Bool { self == .keepUntil || self == .keepStampedUntil }
        /// Whether the record has a stamp.
        var isStamped: Bool { self == .keepStamped || self == .keepStampedUntil }
    }

    /// The maximum size of an operation, without its key, in bytes.
    static let overhead = 57
    /// The maximum number of commits or losses. It leaves room to add one without overflow.
    static let maximumCount = Int.max >> 8

    /// Encodes an operation, without the location of its value.
    static func encode(_ operation: RecordOperation, into bytes: inout [UInt8]) {
        func append(_ kind: Kind, _ key: [UInt8]) {
            bytes.append(kind.rawValue)
            bytes.append(contentsOf: UInt64(key.count).littleEndianBytes)
            bytes.append(contentsOf: key)
        }
        switch operation {
        case .keep(let key, let entry):
            let isStamped = entry.stamp != RecordStamp()
            switch entry.expiry {
            case nil: append(isStamped ? .keepStamped : .keep, key)
            case _?: append(isStamped ? .keepStampedUntil : .keepUntil, key)
            }
            bytes.append(contentsOf: UInt64(entry.length).littleEndianBytes)
            bytes.append(contentsOf: entry.checksum.littleEndianBytes)
            if let expiry = entry.expiry { bytes.append(contentsOf: expiry.littleEndianBytes) }
            guard isStamped else { break }
            bytes.append(contentsOf: entry.stamp.version.littleEndianBytes)
            bytes.append(contentsOf: entry.stamp.token.littleEndianBytes)
            bytes.append(contentsOf: entry.stamp.freeSince.littleEndianBytes)
        case .remove(let key): append(.remove, key)
        case .removeAll(let key): append(.removeAll, key)
        case .lose(let key): append(.lose, key)
        case .setDurableCount(let before, let after):
            append(.setDurableCount, UInt64(before).littleEndianBytes + UInt64(after).littleEndianBytes)
        case .lease(let key, let token, let end):
            append(.lease, key)
            bytes.append(contentsOf: token.littleEndianBytes)
            bytes.append(contentsOf: end.littleEndianBytes)
        case .setLastNumber(let number): append(.setLastNumber, number.littleEndianBytes)
        case .findGap: break
        case .setUnknownLossCount(let count): append(.setUnknownLossCount, UInt64(count).littleEndianBytes)
        }
    }

    /// An error for an operation code that this version of the program does not know.
    struct UnknownOperation: Error {
        let code: UInt8
    }

    /// Decodes operations whose values are stored consecutively in a range, or returns `nil` if the bytes are not operations.
    ///
    /// - Parameters:
    ///   - bytes: The encoded operations. Their checksum has already been verified.
    ///   - body: The range of the values.
    /// - Returns: The operations.
    /// - Throws: ``UnknownOperation`` if a newer program wrote them.
    static func operations(
        of bytes: [UInt8],
        body: Range<Int>
    ) throws(UnknownOperation) -> [RecordOperation]? {
        var cursor = ByteCursor(bytes)
        var operations: [RecordOperation] = []
        var offset = body.lowerBound
        while !cursor.isAtEnd {
            guard let code = cursor.byte() else { return nil }
            guard let kind = Kind(rawValue: code) else { throw UnknownOperation(code: code) }
            guard let length = cursor.count(upTo: bytes.count),
                let key = cursor.take(length)
            else { return nil }
            switch kind {
            case .remove: operations.append(.remove(Array(key)))
            case .removeAll: operations.append(.removeAll(Array(key)))
            case .lose: operations.append(.lose(Array(key)))
            case .setDurableCount:
                var number = ByteCursor(Array(key))
                guard let before = number.count(upTo: maximumCount), let after = number.count(upTo: maximumCount),
                    number.isAtEnd
                else { return nil }
                operations.append(.setDurableCount(before: before, after: after))
            case .setUnknownLossCount:
                var number = ByteCursor(Array(key))
                guard let count = number.count(upTo: maximumCount), number.isAtEnd else { return nil }
                operations.append(.setUnknownLossCount(count))
            case .lease:
                guard let token = cursor.number(), let end = cursor.date() else { return nil }
                operations.append(.lease(Array(key), token: token, end: end))
            case .setLastNumber:
                var rest = ByteCursor(Array(key))
                guard let number = rest.number(), rest.isAtEnd else { return nil }
                operations.append(.setLastNumber(number))
            case .keep, .keepUntil, .keepStamped, .keepStampedUntil:
                guard let count = cursor.count(upTo: body.upperBound - offset), let checksum = cursor.word()
                else {
                    return nil
                }
                var expiry: Date?
                if kind.expires {
                    guard let date = cursor.date() else { return nil }
                    expiry = date
                }
                var stamp = RecordStamp()
                if kind.isStamped {
                    guard let version = cursor.number(), let token = cursor.number(), let freeSince = cursor.date()
                    else { return nil }
                    stamp = RecordStamp(version: version, token: token, freeSince: freeSince)
                    // It is encoded without a stamp.
                    guard stamp != RecordStamp() else { return nil }
                }
                let entry = RecordEntry(
                    offset: offset,
                    length: count,
                    checksum: checksum,
                    expiry: expiry,
                    stamp: stamp
                )
                operations.append(.keep(Array(key), entry))
                offset += count
            }
        }
        return offset == body.upperBound ? operations : nil
    }
}
