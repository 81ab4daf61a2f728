import Foundation

@testable import InwardFileStores
@testable import InwardRecordDirectories
@testable import InwardRepositories

/// Checks that operations and keys that can be decoded from bytes are encoded to the same bytes.
func checkCoding(_ bytes: [UInt8]) {
    for length in [0, bytes.count, 1 << 40] {
        let operations: [RecordOperation]?
        do throws(RecordOperationCoding.UnknownOperation) {
            operations = try RecordOperationCoding.operations(of: bytes, body: 0..<length)
        } catch {
            continue
        }
        guard let operations else { continue }
        // Even the shortest operation takes at least as many bytes.
        precondition(operations.count <= bytes.count / 9)
        var written: [UInt8] = []
        for operation in operations { RecordOperationCoding.encode(operation, into: &written) }
        precondition(written == bytes)
    }
    let keys = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false).map { part in
        RecordKey(
            String(decoding: part, as: UTF8.self).split(separator: "/", omittingEmptySubsequences: false).map(
                String.init
            )
        )
    }
    for key in keys { precondition(RecordKey(encoded: key.encoded) == key) }
    if let first = keys.first, let last = keys.last {
        precondition((first < last) == first.encoded.lexicographicallyPrecedes(last.encoded))
        precondition(first.contains(last) == last.encoded.starts(with: first.encoded))
        precondition((first == last) == (first.encoded == last.encoded))
    }
    if let key = RecordKey(encoded: bytes) { precondition(key.encoded == bytes) }
}

/// Applies changes, encoded in three bytes each, to an index and to a dictionary, and checks that they stay equal.
func checkIndex(_ input: [UInt8]) {
    var index = RecordIndex()
    var records: [[UInt8]: RecordEntry] = [:]
    var lost: Set<[UInt8]> = []
    var lastNumber: UInt64 = 0
    var start = 0
    while start + 3 <= input.count {
        let (kind, key) = (input[start], Array(input[start + 1...start + 2]))
        let operation: RecordOperation
        switch kind % 16 {
        case 0..<9:
            let entry = RecordEntry(
                offset: start,
                length: Int(kind),
                checksum: 0,
                expiry: kind & 16 == 0 ? nil : KnownLog.time,
                stamp: RecordStamp(version: UInt64(kind), freeSince: KnownLog.time)
            )
            lastNumber = max(lastNumber, UInt64(kind))
            operation = .keep(key, entry)
            records[key] = entry
            lost.remove(key)
        case 9..<12:
            operation = .remove(key)
            records[key] = nil
            lost.remove(key)
        case 12:
            let end = KnownLog.time.addingTimeInterval(Double(kind))
            operation = .lease(key, token: UInt64(start), end: end)
            records[key]?.stamp.token = UInt64(start)
            records[key]?.stamp.freeSince = end
            lastNumber = max(lastNumber, UInt64(start))
        case 13:
            let prefix = Array(key.prefix(Int(kind >> 6)))
            operation = .removeAll(prefix)
            records = records.filter { !$0.key.starts(with: prefix) }
            lost = lost.filter { !$0.starts(with: prefix) }
        case 14:
            operation = .lose(key)
            records[key] = nil
            lost.insert(key)
        default:
            // Rare, because it removes many records.
            operation = kind >= 0xF0 ? .findGap : .setDurableCount(before: 0, after: 0)
            if kind >= 0xF0 {
                records = records.filter { $0.value.expiry == nil }
                for key in records.keys { records[key]?.stamp.token = 0 }
            }
        }
        index.apply(operation)
        start += 3
    }
    let prefix = Array(input.prefix(1))
    let expected = records.filter { $0.key.starts(with: prefix) }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    precondition(index.slots(under: prefix).map(\.key) == expected.map(\.key))
    precondition(index.slots(under: []).count == records.count && index.count == records.count)
    precondition(index.lostKeys == lost && index.lastNumber == lastNumber)
    let free = index.freeSlots(under: prefix, limit: 2, at: KnownLog.time).map(\.key)
    let expectedFree = expected.filter { $0.value.expiry == nil && $0.value.stamp.freeSince <= KnownLog.time }
        .sorted { $0.value.stamp.freeSince < $1.value.stamp.freeSince }
    precondition(Set(free).isSubset(of: expectedFree.map(\.key)) && free.count == min(2, expectedFree.count))
    let keyBytes = lost.reduce(0) { $0 + RecordFrame.byteCount(ofKeyLength: $1.count) }
    precondition(index.byteCount == keyBytes + records.reduce(0) { $0 + RecordIndex.byteCount(of: $1.key, $1.value) })
    for (key, entry) in records { precondition(index[key] == entry) }
    for key in lost { precondition(index[key] == nil) }
}
