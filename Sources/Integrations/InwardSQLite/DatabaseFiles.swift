#if SQLite
import Foundation
import InwardRecordDirectories
import InwardRepositories

/// The files of a store. The database and its log have their own directory, so a single rename moves both.
struct DatabaseFiles: Sendable {
    private static let database = "database.sqlite"
    private static let current = "records"
    private static let new = "records.new"

    /// The store's directory.
    let directory: RecordDirectory

    /// The path of the database.
    var path: String { place(Self.current).path(of: Self.database) }
    /// Returns the identity of the database file, or `nil` if it does not exist.
    func identity() throws(RecordStoreError) -> RecordFile.Identity? {
        try place(Self.current).status(of: Self.database)?.identity
    }
    /// Returns the size of the log in bytes.
    func logLength() throws(RecordStoreError) -> Int { try place(Self.current).status(of: Self.log)?.size ?? 0 }

    private static var log: String { "\(database)-wal" }

    /// Prepares the directory for opening a database. The caller must hold the lock.
    func prepare() throws(RecordStoreError) {
        let isThere = try directory.status(of: Self.current) != nil
        let hasNew = try directory.status(of: Self.new) != nil
        if isThere, hasNew {
            // A process was killed before the replacement was complete. Removes its remains, because the name is needed again.
            try? FileManager.default.removeItem(atPath: directory.path(of: Self.new))
        } else if hasNew {
            // A process was killed between the two renames of `replace`.
            try directory.move(Self.new, to: directory.path(of: Self.current))
        }
        try makeDatabase(in: Self.current)
    }

    /// Flushes the directory entries of the files.
    func flush() throws(RecordStoreError) {
        try place(Self.current).flush()
        try directory.flush()
    }

    /// Returns the unusable bytes of the log, or `nil` if the log is undamaged.
    func damagedLog() throws(RecordStoreError) -> (byteCount: Int, bytes: [UInt8])? {
        guard try logLength() > 0 else { return nil }
        let file: RecordFile
        do throws(RecordStoreError) {
            file = try place(Self.current).open(Self.log, O_RDONLY)
        } catch {
            // Another connection to the database may have been the last one, which removes the log when it closes.
            guard try place(Self.current).status(of: Self.log) != nil else { return nil }
            throw error
        }
        guard let tail = try WriteAheadLog(file).tail() else { return nil }
        return (tail.count, try file.read(at: tail.lowerBound, count: min(tail.count, 1_024 * 1_024)))
    }

    /// Creates an empty file for a replacement database, and returns its path.
    func prepareNew() throws(RecordStoreError) -> String {
        try? FileManager.default.removeItem(atPath: directory.path(of: Self.new))
        try makeDatabase(in: Self.new)
        return place(Self.new).path(of: Self.database)
    }

    /// Moves the current database aside, installs the replacement, and returns the old database's new path.
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

    /// Creates an empty file that only its owner can access, unless it exists.
    private func makeDatabase(in name: String) throws(RecordStoreError) {
        let place = place(name)
        try place.make()
        let path = place.path(of: Self.database)
        if try place.status(of: Self.database) == nil {
            // No process has this new file open, so closing it does not release any locks.
            _ = try place.open(Self.database, O_RDWR | O_CREAT | O_EXCL)
            return
        }
        // An existing file is not opened here, because closing it would release the locks that SQLite holds in this process.
        let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        guard type == .typeRegular else { throw RecordStoreError(code: EEXIST, path: path, "opened") }
        guard FileManager.default.isReadableFile(atPath: path), FileManager.default.isWritableFile(atPath: path)
        else {
            throw RecordStoreError(code: EACCES, path: path, "opened")
        }
    }
}

/// The write-ahead log of a database, in SQLite's format.
///
/// The log has a header of 32 bytes, followed by frames. A frame is a header of 24 bytes (the page number, the identity of the
/// log, and a checksum of all frames so far) and one page. SQLite uses the committed transactions before the first invalid
/// frame, and silently ignores the rest.
struct WriteAheadLog {
    private static let headerLength = 32
    private static let frameHeaderLength = 24

    private let file: RecordFile
    private let size: Int
    private let header: [UInt8]

    /// Reads the header of a log.
    init(_ file: RecordFile) throws(RecordStoreError) {
        self.file = file
        size = try file.status().size
        header = try file.read(at: 0, count: Self.headerLength)
    }

    /// Returns the range that SQLite ignores, or `nil` if SQLite uses the whole log. SQLite ignores damaged frames, and those
    /// of a process that was killed while it wrote them.
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
                // This frame commits a transaction, so all frames up to it are valid.
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

    /// The two running sums that each frame's checksum stores.
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
