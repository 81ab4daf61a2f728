import InwardRecordDirectories
import InwardRepositories
import InwardTransfers

/// Writes a log from its beginning, in frames that are not too large to be in memory.
struct RecordLogWriter {
    private static let frameLength = 1_024 * 1_024

    /// Where each record is that was written.
    private(set) var index = RecordIndex()
    /// How long the log is.
    private(set) var end = 0

    private let file: RecordFile
    private var builder = RecordFrameBuilder()

    /// Begins with an empty file.
    init(_ file: RecordFile) throws(RecordStoreError) {
        self.file = file
        try file.write(RecordLogHeader.bytes(), at: 0)
        end = RecordLogHeader.length
    }

    /// Adds a record, by its bytes and what an older log has of it.
    mutating func add(_ bytes: [UInt8], _ slot: RecordIndex.Slot) throws(RecordStoreError) {
        builder.keep(bytes, slot.entry, slot.key)
        if builder.byteCount >= Self.frameLength { try writeFrame() }
    }

    /// Adds a change that has no record.
    mutating func add(_ operation: RecordOperation) throws(RecordStoreError) {
        builder.add(operation)
        if builder.byteCount >= Self.frameLength { try writeFrame() }
    }

    /// Writes what there is left, and waits until all is on the disk.
    mutating func finish() throws(RecordStoreError) {
        try endFrame()
        try file.flush()
    }

    /// Writes what was added, so that what is added next is in a frame of its own.
    mutating func endFrame() throws(RecordStoreError) {
        if !builder.isEmpty { try writeFrame() }
    }

    private mutating func writeFrame() throws(RecordStoreError) {
        builder.number(behind: index)
        let (head, tail, operations) = builder.frame(at: end)
        try file.write(head + tail, at: end)
        for operation in operations { index.apply(operation) }
        end += head.count + tail.count
        builder = RecordFrameBuilder()
    }
}

/// Collects what goes into one ``RecordFrame``, and writes it.
struct RecordFrameBuilder {
    private var operations: [RecordOperation] = []
    private var encoded: [UInt8] = []
    private var body: [UInt8] = []

    /// Whether nothing was added.
    var isEmpty: Bool { operations.isEmpty }
    /// How many bytes the frame has, more or less.
    var byteCount: Int { 2 * encoded.count + body.count }

    /// Adds a change.
    mutating func add(_ change: RecordChange) {
        switch change {
        case .keep(let record, let key):
            let checksum = Checksum(of: record.bytes.span).value
            keep(
                record.bytes,
                RecordEntry(
                    offset: 0,
                    length: record.bytes.count,
                    checksum: checksum,
                    expiry: record.expiry
                ),
                key.encoded
            )
        case .remove(let key): remove(key.encoded)
        case .removeAll(let key): append(.removeAll(key.encoded))
        }
    }

    /// Adds that a record is kept, whose bytes are known to be those of an entry of another place.
    mutating func keep(_ bytes: [UInt8], _ entry: RecordEntry, _ key: [UInt8]) {
        var entry = entry
        entry.offset = body.count
        append(.keep(key, entry))
        body.append(contentsOf: bytes)
    }

    /// Adds that a record is removed.
    mutating func remove(_ key: [UInt8]) {
        append(.remove(key))
    }

    /// Numbers the commit, as the first of what it says.
    mutating func number(behind index: RecordIndex) {
        let before = index.durableCount
        let after = before + (operations.contains(where: index.isDurable) ? 1 : 0)
        let number = RecordOperation.setDurableCount(before: before, after: after)
        operations.insert(number, at: 0)
        var bytes: [UInt8] = []
        RecordOperationCoding.encode(number, into: &bytes)
        encoded.insert(contentsOf: bytes, at: 0)
    }

    /// Adds a change that has no record.
    mutating func add(_ operation: RecordOperation) {
        append(operation)
    }

    private mutating func append(_ operation: RecordOperation) {
        operations.append(operation)
        RecordOperationCoding.encode(operation, into: &encoded)
    }

    /// The frame in bytes where it begins at an offset: all but the second head, and that.
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
