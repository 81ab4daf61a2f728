import InwardRecordDirectories
import InwardRepositories
import InwardTransfers

/// Writes a log from the beginning, in frames that are small enough to be held in memory.
struct RecordLogWriter {
    private static let frameLength = 1_024 * 1_024

    /// The location of each record written so far.
    private(set) var index = RecordIndex()
    /// The length of the log.
    private(set) var end = 0

    private let file: RecordFile
    private var builder = RecordFrameBuilder()

    /// Creates a writer for an empty file.
    init(_ file: RecordFile) throws(RecordStoreError) {
        self.file = file
        try file.write(RecordLogHeader.bytes(), at: 0)
        end = RecordLogHeader.length
    }

    /// Adds a record with the key and the metadata of its slot in an older log.
    mutating func add(_ bytes: [UInt8], _ slot: RecordIndex.Slot) throws(RecordStoreError) {
        builder.keep(bytes, slot.entry, slot.key)
        if builder.byteCount >= Self.frameLength { try writeFrame() }
    }

    /// Adds a change without a record.
    mutating func add(_ operation: RecordOperation) throws(RecordStoreError) {
        builder.add(operation)
        if builder.byteCount >= Self.frameLength { try writeFrame() }
    }

    /// Writes the remaining frame and flushes the file.
    mutating func finish() throws(RecordStoreError) {
        try endFrame()
        try file.flush()
    }

    /// Writes the pending changes. Later changes go into another frame.
    mutating func endFrame() throws(RecordStoreError) {
        if !builder.isEmpty { try writeFrame() }
    }

    private mutating func writeFrame() throws(RecordStoreError) {
        builder.number(after: index)
        let (head, tail, operations) = builder.frame(at: end)
        try file.write(head + tail, at: end)
        for operation in operations { index.apply(operation) }
        end += head.count + tail.count
        builder = RecordFrameBuilder()
    }
}

/// Collects the contents of a ``RecordFrame`` and encodes it.
struct RecordFrameBuilder {
    private var operations: [RecordOperation] = []
    private var encoded: [UInt8] = []
    private var body: [UInt8] = []

    /// Whether nothing has been added.
    var isEmpty: Bool { operations.isEmpty }
    /// The approximate size of the frame, in bytes.
    var byteCount: Int { 2 * encoded.count + body.count }

    /// Adds a change.
    mutating func add(_ change: RecordChange) {
        switch change {
        case .keep(let record, let key): _ = keep(record, RecordStamp(), key.encoded)
        case .remove(let key): remove(key.encoded)
        case .removeAll(let key): append(.removeAll(key.encoded))
        case .announce: break
        }
    }

    /// Adds a record, and returns its entry.
    mutating func keep(_ record: StoredRecord, _ stamp: RecordStamp, _ key: [UInt8]) -> RecordEntry {
        let entry = RecordEntry(
            offset: 0,
            length: record.bytes.count,
            checksum: Checksum(of: record.bytes.span).value,
            expiry: record.expiry,
            stamp: stamp
        )
        keep(record.bytes, entry, key)
        return entry
    }

    /// Adds a record whose bytes have already been checked against an entry for another location.
    mutating func keep(_ bytes: [UInt8], _ entry: RecordEntry, _ key: [UInt8]) {
        var entry = entry
        entry.offset = body.count
        append(.keep(key, entry))
        body.append(contentsOf: bytes)
    }

    /// Adds the removal of a record.
    mutating func remove(_ key: [UInt8]) {
        append(.remove(key))
    }

    /// Inserts the commit's numbers as the first operations.
    mutating func number(after index: RecordIndex) {
        let before = index.durableCount
        let after = before + (operations.contains(where: index.isDurable) ? 1 : 0)
        var numbers = [RecordOperation.setDurableCount(before: before, after: after)]
        // If the commits before this one are lost, their versions and fencing tokens are not used again.
        if index.lastNumber > 0 { numbers.append(.setLastNumber(index.lastNumber)) }
        operations.insert(contentsOf: numbers, at: 0)
        var bytes: [UInt8] = []
        for number in numbers { RecordOperationCoding.encode(number, into: &bytes) }
        encoded.insert(contentsOf: bytes, at: 0)
    }

    /// Adds a change without a record.
    mutating func add(_ operation: RecordOperation) {
        append(operation)
    }

    private mutating func append(_ operation: RecordOperation) {
        operations.append(operation)
        RecordOperationCoding.encode(operation, into: &encoded)
    }

    /// Returns the encoded frame for an offset: everything except the second head, and the second head.
    func frame(at offset: Int) -> (head: [UInt8], tail: [UInt8], operations: [RecordOperation]) {
        func head(_ mark: RecordFrame.Mark) -> [UInt8] {
            RecordFramePrefix(mark, offset: offset, operations: encoded, bodyLength: body.count).bytes
                + encoded
        }
        let bodyOffset = offset + RecordFrame.prefixLength + encoded.count
        let placed = operations.map { operation in
            guard case .keep(let key, var entry) = operation else { return operation }
            entry.offset += bodyOffset
            return .keep(key, entry)
        }
        return (head(.head) + body, head(.tail), placed)
    }
}
