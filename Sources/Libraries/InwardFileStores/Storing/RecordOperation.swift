import Foundation
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
/// An encoded operation consists of its code, the length of its key, and the key. A stored record adds its length, its checksum
/// and its expiry.
enum RecordOperationCoding {
    private enum Kind: UInt8 {
        case keep = 1
        case keepUntil
        case remove
        case removeAll
        case lose
        case setUnknownLossCount
        case setDurableCount
    }

    /// The maximum size of an operation, without its key, in bytes.
    static let overhead = 33
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
            append(entry.expiry == nil ? .keep : .keepUntil, key)
            bytes.append(contentsOf: UInt64(entry.length).littleEndianBytes)
            bytes.append(contentsOf: entry.checksum.littleEndianBytes)
            if let expiry = entry.expiry {
                bytes.append(contentsOf: expiry.timeIntervalSinceReferenceDate.bitPattern.littleEndianBytes)
            }
        case .remove(let key): append(.remove, key)
        case .removeAll(let key): append(.removeAll, key)
        case .lose(let key): append(.lose, key)
        case .setDurableCount(let before, let after):
            append(.setDurableCount, UInt64(before).littleEndianBytes + UInt64(after).littleEndianBytes)
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
            case .keep, .keepUntil:
                guard let count = cursor.count(upTo: body.upperBound - offset), let checksum = cursor.word()
                else {
                    return nil
                }
                var expiry: Date?
                if kind == .keepUntil {
                    guard let word = cursor.word() else { return nil }
                    expiry = Date(timeIntervalSinceReferenceDate: Double(bitPattern: word))
                }
                let entry = RecordEntry(offset: offset, length: count, checksum: checksum, expiry: expiry)
                operations.append(.keep(Array(key), entry))
                offset += count
            }
        }
        return offset == body.upperBound ? operations : nil
    }
}
