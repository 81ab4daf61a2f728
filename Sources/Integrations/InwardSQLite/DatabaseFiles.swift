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
#endif
