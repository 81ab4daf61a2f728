import InwardRecordDirectories
import InwardRepositories

/// The changes in a log after an offset. If the log is damaged, the scan recovers what it can.
///
/// - If the first head of a frame is damaged, the second head identifies the frame.
/// - If both heads are damaged, everything up to the next frame is damaged.
/// - Damage inside a value is found when the value is read.
/// - The last frame is valid if it is complete, or if its second head exists, because a writer writes that head only after it
///   has flushed the rest. Any other last frame is damaged. Its commit was never reported as durable.
struct RecordLogScan {
    /// A part of the log about which nothing is known.
    struct Gap: Equatable {
        let range: Range<Int>
        /// Whether the gap is at the end of the log, where a killed process leaves an incomplete write.
        let isLast: Bool
    }

    /// All changes, in order.
    private(set) var operations: [RecordOperation] = []
    /// The damaged parts.
    private(set) var gaps: [Gap] = []
    /// The number of frames that were restored from their second head.
    private(set) var restoredCount = 0
    /// The offset at which to write the next frame.
    private(set) var end: Int
    /// Whether the log is undamaged.
    private(set) var isWhole = true

    /// The number of bytes that were read as the operations of apparent heads that turned out not to be heads.
    private(set) var futileByteCount = 0

    private static let windowLength = 64 * 1_024
    /// Operations up to this length are always read after an apparent head.
    private static let shortLength = 4_096
    /// The maximum number of futile bytes, as a multiple of the file's size. Beyond it, only short operations are read.
    private static let futility = 16

    private let file: RecordFile
    private let path: String
    private let size: Int
    private var window: [UInt8] = []
    private var windowOffset = 0

    /// Scans a file of the given size, starting at a frame boundary. At offset 0, the scan reads the header first.
    ///
    /// - Throws: A `RecordStoreError` if the file cannot be read, or if a newer program wrote it.
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
                // The header is missing, as in format 0, or damaged. Either way, a rewrite adds it.
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
        // The gap may be an unfinished commit, which was never reported as durable.
        if !isLast || file.isUnreadable { operations.append(.findGap) }
    }

    /// Returns whether the last frame was written completely.
    private mutating func isComplete(_ frame: RecordFrame) throws(RecordStoreError) -> Bool {
        if frame.end == size, try self.frame(at: frame.tailOffset, .tail) != nil { return true }
        isWhole = false
        // Some values are missing. Their stated lengths are not trusted, so no memory is allocated for them.
        guard frame.tailOffset <= size else { return false }
        for case .keep(_, let entry) in frame.operations {
            guard entry.isFulfilled(by: try file.readable(at: entry.offset, count: entry.length)) else {
                return false
            }
        }
        return true
    }

    /// Returns the frame that has the given head at a position.
    private mutating func frame(
        at position: Int,
        _ mark: RecordFrame.Mark
    ) throws(RecordStoreError) -> RecordFrame? {
        guard let bytes = try bytes(at: position, count: RecordFrame.prefixLength),
            let prefix = RecordFramePrefix(bytes), prefix.mark == mark, prefix.position == position,
            // A value can contain many apparent heads, each of which claims that the rest of the file is its operations.
            // Checking all of them would take quadratic time.
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
            throw RecordLogHeader.newerFormat("it contains the unknown operation \(error.code)", path: path)
        }
    }

    /// Returns the first frame that begins at or after a position, and the head that identified it.
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

    /// Returns bytes of the file, or `nil` if the file has fewer.
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
