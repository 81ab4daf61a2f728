import InwardRecordDirectories
import InwardRepositories

/// What a log says from an offset on, however damaged it is.
///
/// A frame whose head is damaged is known by its second one. Where both are, what lies before the next frame is damage. What
/// is damaged inside of a value is seen when the value is read. The last frame counts if it is whole, or if its second head is
/// there, which is written once the rest is on the disk; otherwise its commit was never reported as durable, and it is damage.
struct RecordLogScan {
    /// A part of the log that nothing is known of.
    struct Gap: Equatable {
        let range: Range<Int>
        /// Whether it is at the end, where a process that is killed leaves what it was writing.
        let isLast: Bool
    }

    /// All changes, in order.
    private(set) var operations: [RecordOperation] = []
    /// What is damaged.
    private(set) var gaps: [Gap] = []
    /// How many heads were damaged that the second one stood in for.
    private(set) var restoredCount = 0
    /// Where the next frame is to be written.
    private(set) var end: Int
    /// Whether everything is as it was written.
    private(set) var isWhole = true

    /// How many bytes of operations were read for heads that turned out to be none.
    private(set) var futileByteCount = 0

    private static let windowLength = 64 * 1_024
    /// Operations of as many bytes are always read where a head says that they follow.
    private static let shortLength = 4_096
    /// How many times the length of the file may be read in vain, beside short operations.
    private static let futility = 16

    private let file: RecordFile
    private let path: String
    private let size: Int
    private var window: [UInt8] = []
    private var windowOffset = 0

    /// Reads a file of a size from the beginning of a frame on, or from its own.
    ///
    /// - Throws: a `RecordStoreError` if it cannot be read, or a newer program wrote it.
    init(_ file: RecordFile, path: String, from start: Int, size: Int) throws(RecordStoreError) {
        self.file = file
        self.path = path
        self.size = size
        end = start
        var position = start
        if start == 0 {
            if let header = try RecordLogHeader(file.readable(at: 0, count: RecordLogHeader.length)) {
                guard header.format <= RecordLogHeader.currentFormat else {
                    throw RecordLogHeader.newerFormat("its format is \(header.format)", path: path)
                }
                isWhole = header.isWhole
                position = RecordLogHeader.length
                end = position
            } else {
                // It has no header, as logs of the format 0 had none, or a damaged one. Either way it gets another.
                isWhole = false
            }
        }
        while position < size {
            if let frame = try frame(at: position, .head) {
                let counts = if frame.end < size { true } else { try isComplete(frame) }
                guard counts else {
                    addGap(position..<size)
                    break
                }
                add(frame)
                position = frame.end
            } else if let (frame, mark) = try nextFrame(from: position) {
                isWhole = false
                if frame.offset > position { addGap(position..<frame.offset) }
                if mark == .tail {
                    restoredCount += 1
                    add(frame)
                    position = frame.end
                } else {
                    position = frame.offset
                }
            } else {
                addGap(position..<size)
                break
            }
        }
    }

    private mutating func add(_ frame: RecordFrame) {
        operations += frame.operations
        end = frame.end
    }

    private mutating func addGap(_ range: Range<Int>) {
        isWhole = false
        let isLast = range.upperBound == size
        gaps.append(Gap(range: range, isLast: isLast))
        // The end may be a commit that its process did not finish, and so never reported.
        if !isLast || file.isUnreadable { operations.append(.findGap) }
    }

    /// Whether the last frame was written to its end.
    private mutating func isComplete(_ frame: RecordFrame) throws(RecordStoreError) -> Bool {
        if frame.end == size, try self.frame(at: frame.tailOffset, .tail) != nil { return true }
        isWhole = false
        // Not all values are there; and whatever their lengths are, no memory is taken for them.
        guard frame.tailOffset <= size else { return false }
        for case .keep(_, let entry) in frame.operations {
            guard entry.isFulfilled(by: try file.readable(at: entry.offset, count: entry.length)) else {
                return false
            }
        }
        return true
    }

    /// The frame that has one of its heads at a position.
    private mutating func frame(
        at position: Int,
        _ mark: RecordFrame.Mark
    ) throws(RecordStoreError) -> RecordFrame? {
        guard let bytes = try bytes(at: position, count: RecordFrame.prefixLength),
            let prefix = RecordFramePrefix(bytes), prefix.mark == mark, prefix.position == position,
            // A value can hold many heads, each of which says that all the rest is its operations. Checking them all would take
            // time in proportion to the square of the length.
            prefix.operationsLength <= Self.shortLength || futileByteCount / Self.futility <= size,
            let operations = try self.bytes(
                at: position + RecordFrame.prefixLength,
                count: prefix.operationsLength
            )
        else { return nil }
        do throws(RecordOperationCoding.UnknownOperation) {
            let frame = try RecordFrame(prefix, operations: Array(operations))
            if frame == nil { futileByteCount += operations.count }
            return frame
        } catch {
            throw RecordLogHeader.newerFormat("it has an operation of the code \(error.code)", path: path)
        }
    }

    /// The first frame that begins at or after a position, and which of its heads it was found by.
    private mutating func nextFrame(
        from start: Int
    ) throws(RecordStoreError) -> (RecordFrame, RecordFrame.Mark)? {
        guard let first = RecordFrame.Mark.head.rawValue.utf8.first else { return nil }
        var position = start
        while let byte = try bytes(at: position, count: 1)?.first {
            if byte == first {
                for mark in RecordFrame.Mark.allCases {
                    if let frame = try frame(at: position, mark), frame.offset >= start {
                        return (frame, mark)
                    }
                }
            }
            position += 1
        }
        return nil
    }

    /// Bytes of the file; `nil` if there are not as many.
    private mutating func bytes(at offset: Int, count: Int) throws(RecordStoreError) -> ArraySlice<
        UInt8
    >? {
        guard count <= size - offset else { return nil }
        if offset < windowOffset || offset + count > windowOffset + window.count {
            window = try file.readable(at: offset, count: min(size - offset, max(count, Self.windowLength)))
            windowOffset = offset
        }
        let start = offset - windowOffset
        return start + count <= window.count ? window[start..<start + count] : nil
    }
}
