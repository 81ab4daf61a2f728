import Foundation

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
    }

    /// How many bytes an operation has at the most, beside the key.
    static let overhead = 33

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
        case .setUnknownLossCount(let count): append(.setUnknownLossCount, UInt64(count).littleEndianBytes)
        }
    }

    /// The operations that bytes are of, their values one behind the other in a range; `nil` if they are of none.
    static func operations(of bytes: [UInt8], body: Range<Int>) -> [RecordOperation]? {
        var cursor = ByteCursor(bytes)
        var operations: [RecordOperation] = []
        var offset = body.lowerBound
        while !cursor.isAtEnd {
            guard let kind = cursor.byte().flatMap(Kind.init),
                let length = cursor.count(upTo: bytes.count),
                let key = cursor.take(length)
            else { return nil }
            switch kind {
            case .remove: operations.append(.remove(Array(key)))
            case .removeAll: operations.append(.removeAll(Array(key)))
            case .lose: operations.append(.lose(Array(key)))
            case .setUnknownLossCount:
                var number = ByteCursor(Array(key))
                guard let count = number.count(upTo: .max), number.isAtEnd else { return nil }
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
