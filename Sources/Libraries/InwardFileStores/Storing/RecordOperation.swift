import Foundation
import InwardTransfers

/// One change as the log has it, by encoded keys.
enum RecordOperation: Equatable, Sendable {
    case keep([UInt8], RecordEntry)
    case remove([UInt8])
    case removeAll([UInt8])
    /// A record without an expiry is damaged.
    case lose([UInt8])
    /// How many times damage hit unknown keys so far.
    case setUnknownLossCount(Int)
    /// How many commits before this one, and up to it, changed records without an expiry.
    case setDurableCount(before: Int, after: Int)
    /// A part of the log before this cannot be read. It is not in the log, but found there.
    case findGap
}

/// Where a record is in the log, and what is to be known of it without reading it.
struct RecordEntry: Equatable, Sendable {
    /// Where its bytes begin.
    var offset: Int
    /// How many bytes it has.
    let length: Int
    /// The checksum of its bytes.
    let checksum: UInt64
    /// From when on it is not given any more.
    let expiry: Date?

    /// Whether it has expired by a time.
    func isExpired(at time: Date) -> Bool {
        if let expiry { !(time < expiry) } else { false }
    }

    /// Whether these are the bytes that were kept.
    func isFulfilled(by bytes: [UInt8]) -> Bool {
        bytes.count == length && Checksum(of: bytes.span).value == checksum
    }
}

/// Operations in bytes: what is done, how long the key is, the key; and of what is kept its length, its checksum, and when it
/// expires.
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

    /// How many bytes an operation has at the most, beside the key.
    static let overhead = 33
    /// No number of commits or losses is larger, so that one more can always be counted.
    static let maximumCount = Int.max >> 8

    /// The operations in bytes, without where their values are.
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

    /// The code of an operation is none that this program knows.
    struct UnknownOperation: Error {
        let code: UInt8
    }

    /// Decodes operations, whose values follow each other in a range; `nil` if the bytes are not operations.
    ///
    /// - Parameters:
    ///   - bytes: Bytes with the right checksum, so that what they say is what a program wrote.
    ///   - body: Where the values are.
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
