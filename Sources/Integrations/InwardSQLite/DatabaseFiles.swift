#if SQLite
import Foundation
import InwardRecordDirectories
import InwardRepositories

/// The files of a store: the database and its log in a directory of their own, so that both are set aside by one step.
struct DatabaseFiles: Sendable {
    private static let database = "database.sqlite"
    private static let current = "records"
    private static let new = "records.new"

    /// The directory of the store.
    let directory: RecordDirectory

    /// Where the database is.
    var path: String { place(Self.current).path(of: Self.database) }
    /// Which file it is; `nil` if there is none.
    func identity() throws(RecordStoreError) -> RecordFile.Identity? {
        try place(Self.current).status(of: Self.database)?.identity
    }
    /// How many bytes its log has.
    func logLength() throws(RecordStoreError) -> Int { try place(Self.current).status(of: Self.log)?.size ?? 0 }

    private static var log: String { "\(database)-wal" }

    /// Makes what there has to be for a database to be opened. For who has the lock.
    func prepare() throws(RecordStoreError) {
        let isThere = try directory.status(of: Self.current) != nil
        let hasNew = try directory.status(of: Self.new) != nil
        if isThere, hasNew {
            // Somebody was killed before it was whole. What stays is in the way of the next.
            try? FileManager.default.removeItem(atPath: directory.path(of: Self.new))
        } else if hasNew {
            // Somebody was killed between the two steps of `replace`.
            try directory.move(Self.new, to: directory.path(of: Self.current))
        }
        try makeDatabase(in: Self.current)
    }

    /// Waits until the names of the files are on the disk.
    func flush() throws(RecordStoreError) {
        try place(Self.current).flush()
        try directory.flush()
    }

    /// The bytes of the log that are of no use, if there are any.
    func damagedLog() throws(RecordStoreError) -> (byteCount: Int, bytes: [UInt8])? {
        guard try logLength() > 0 else { return nil }
        let file = try place(Self.current).open(Self.log, O_RDONLY)
        guard let tail = try WriteAheadLog(file).tail() else { return nil }
        return (tail.count, try file.read(at: tail.lowerBound, count: min(tail.count, 1_024 * 1_024)))
    }

    /// Makes an empty file for a database that is to take the place of the present one; gives its path.
    func prepareNew() throws(RecordStoreError) -> String {
        try? FileManager.default.removeItem(atPath: directory.path(of: Self.new))
        try makeDatabase(in: Self.new)
        return place(Self.new).path(of: Self.database)
    }

    /// Sets the present database aside and puts the new one in its place; gives where the old one is.
    func replace() throws(RecordStoreError) -> String {
        try place(Self.new).flush()
        let old = try DamagedRecords(directory: directory).placeForDatabase().path(percentEncoded: false)
        try directory.move(Self.current, to: old)
        try directory.move(Self.new, to: directory.path(of: Self.current))
        try directory.flush()
        return old
    }

    private func place(_ name: String) -> RecordDirectory {
        RecordDirectory(
            url: directory.url.appending(path: name, directoryHint: .isDirectory),
            faults: directory.faults
        )
    }

    /// Makes an empty file, for its owner alone, if there is none.
    private func makeDatabase(in name: String) throws(RecordStoreError) {
        let place = place(name)
        try place.make()
        let path = place.path(of: Self.database)
        if try place.status(of: Self.database) == nil {
            // Nobody has this file open, who would lose his locks when it is closed here.
            _ = try place.open(Self.database, O_RDWR | O_CREAT | O_EXCL)
            return
        }
        // What is there is not opened and closed but by SQLite, whose locks would go.
        let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        guard type == .typeRegular else { throw RecordStoreError(code: EEXIST, path: path, "opened") }
        guard FileManager.default.isReadableFile(atPath: path), FileManager.default.isWritableFile(atPath: path)
        else {
            throw RecordStoreError(code: EACCES, path: path, "opened")
        }
    }
}

/// The log of a database, in the form that SQLite writes it.
///
/// It is a header of 32 bytes, and frames of a page each behind 24 bytes that say which page it is, what the log is, and a
/// checksum of all frames until then. SQLite takes what comes before the first frame that is not sound, and says nothing of
/// the rest.
struct WriteAheadLog {
    private static let headerLength = 32
    private static let frameHeaderLength = 24

    private let file: RecordFile
    private let size: Int
    private let header: [UInt8]

    /// Reads the beginning of a log.
    init(_ file: RecordFile) throws(RecordStoreError) {
        self.file = file
        size = try file.status().size
        header = try file.read(at: 0, count: Self.headerLength)
    }

    /// Where there are bytes that were to be a part of the log and are not taken, because a process ended while it wrote
    /// them or because they are damaged; `nil` if there are none.
    func tail() throws(RecordStoreError) -> Range<Int>? {
        guard size > 0 else { return nil }
        guard header.count == Self.headerLength, let pageSize, let sum = headerSum else { return 0..<size }
        let frameLength = Self.frameHeaderLength + pageSize
        var (offset, sound, last) = (Self.headerLength, Self.headerLength, Self.headerLength)
        var running: ChecksumPair? = sum
        while offset + Self.frameHeaderLength <= size {
            let frame = try file.read(at: offset, count: frameLength)
            let isOfThisLog = frame.dropFirst(8).prefix(8).elementsEqual(header[16..<24])
            if isOfThisLog { last = min(size, offset + frameLength) }
            if let current = running, isOfThisLog, frame.count == frameLength {
                var next = current
                next.add(frame[0..<8], isBigEndian: isBigEndian)
                next.add(frame[Self.frameHeaderLength...], isBigEndian: isBigEndian)
                let isSound = word(frame, 16) == next.first && word(frame, 20) == next.second && word(frame, 0) != 0
                running = isSound ? next : nil
                // It is the last of a transaction, and all before it counts.
                if isSound, word(frame, 4) != 0 { sound = offset + frameLength }
            } else {
                running = nil
            }
            offset += frameLength
        }
        return sound < last ? sound..<last : nil
    }

    private var isBigEndian: Bool { header[3] & 1 == 1 }

    private var pageSize: Int? {
        guard word(header, 0) & ~1 == 0x377F_0682 else { return nil }
        let size = Int(word(header, 8))
        return size >= 512 && size <= 65_536 && size & (size - 1) == 0 ? size : nil
    }

    private var headerSum: ChecksumPair? {
        var sum = ChecksumPair()
        sum.add(header[0..<24], isBigEndian: isBigEndian)
        return word(header, 24) == sum.first && word(header, 28) == sum.second ? sum : nil
    }

    private func word(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The two sums that a log has behind each frame.
    private struct ChecksumPair {
        var first: UInt32 = 0
        var second: UInt32 = 0

        mutating func add(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) {
            func word(at offset: Int) -> UInt32 {
                var word: UInt32 = 0
                for index in 0..<4 {
                    let shift = UInt32(isBigEndian ? 24 - 8 * index : 8 * index)
                    word |= UInt32(bytes[offset + index]) << shift
                }
                return word
            }
            for offset in stride(from: bytes.startIndex, to: bytes.endIndex, by: 8) {
                first = first &+ word(at: offset) &+ second
                second = second &+ word(at: offset + 4) &+ first
            }
        }
    }
}
#endif
