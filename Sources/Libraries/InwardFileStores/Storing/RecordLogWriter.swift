import InwardRecordDirectories
import InwardRepositories

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
