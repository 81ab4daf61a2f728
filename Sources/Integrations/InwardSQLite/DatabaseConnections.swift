#if SQLite
import Foundation
import GRDB
import InwardRecordDirectories
import InwardRepositories

/// The open connections to a database: one for writing and one for concurrent reads.
struct DatabaseConnections: Sendable {
    /// The maximum time that a connection waits for SQLite's locks, in seconds.
    private static let patience = 10.0

    /// The connection for writing.
    let writer: DatabaseQueue
    /// The connection for reading.
    let reader: DatabaseQueue
    /// The identity of the database file.
    let identity: RecordFile.Identity

    /// Opens a database and migrates it to the current schema version.
    ///
    /// - Throws: ``DatabaseDamage``, or the error that indicates it, if the file is not a store's database.
    init(_ files: DatabaseFiles, schema: RecordSchema, limits: DatabaseLimits) throws {
        writer = try Self.writer(files.path, schema: schema, limits: limits)
        reader = try DatabaseQueue(
            path: files.path,
            configuration: Self.configuration(isReadOnly: true) { _ in }
        )
        guard let identity = try files.identity() else {
            throw RecordStoreError(code: ENOENT, path: files.path, "opened")
        }
        self.identity = identity
        // The process that created the log may have been killed before its directory entry was flushed.
        try files.flush()
    }

    /// Opens a database for writing, after checking that its version is known.
    static func writer(
        _ path: String,
        schema: RecordSchema,
        limits: DatabaseLimits
    ) throws -> DatabaseQueue {
        do {
            // A read-only connection does not modify a database of a newer version, not even when it is closed.
            try viewer(path).read { try schema.check($0, path: path) }
            let writer = try DatabaseQueue(
                path: path,
                configuration: configuration(isReadOnly: false) { try prepare($0, limits) }
            )
            try writer.writeWithoutTransaction { try schema.migrate($0) }
            return writer
        } catch let error as DatabaseError
            where [.SQLITE_ERROR, .SQLITE_READONLY].contains(error.extendedResultCode)
        {
            // The file itself is readable and writable, so the error means that its header is damaged.
            throw DatabaseDamage(error.message ?? "it cannot be read")
        }
    }

    /// Opens a database for reading.
    static func viewer(_ path: String) throws -> DatabaseQueue {
        try DatabaseQueue(path: path, configuration: configuration(isReadOnly: true) { _ in })
    }

    /// Closes both connections after the operations in progress.
    func close() {
        // If closing fails, the connection is closed when its last reference is released.
        try? reader.close()
        try? writer.close()
    }

    private static func prepare(_ database: Database, _ limits: DatabaseLimits) throws {
        try database.execute(
            sql: """
                PRAGMA page_size = \(limits.pageSize);
                PRAGMA synchronous = \(limits.isFlushed ? "FULL" : "OFF");
                PRAGMA fullfsync = ON;
                PRAGMA checkpoint_fullfsync = ON;
                PRAGMA secure_delete = ON;
                PRAGMA wal_autocheckpoint = 0;
                """
        )
        guard try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL") == "wal" else {
            throw DatabaseError(message: "its file system does not support a write-ahead log")
        }
        if let pageCount = limits.pageCount { try database.execute(sql: "PRAGMA max_page_count = \(pageCount)") }
    }

    private static func configuration(
        isReadOnly: Bool,
        _ prepare: @escaping @Sendable (Database) throws -> Void
    ) -> Configuration {
        var configuration = Configuration()
        configuration.label = "inward.record-store.database"
        configuration.readonly = isReadOnly
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(patience)
        configuration.prepareDatabase { database in
            // The first setting detects damaged pages early. The second prevents a manipulated schema from running code.
            try database.execute(sql: "PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF")
            try prepare(database)
        }
        return configuration
    }
}

extension RecordStoreError {
    /// Converts an error of the database at a path.
    init(_ error: any Error, path: String) {
        if let error = error as? RecordStoreError {
            self = error
            return
        }
        let code = (error as? DatabaseError)?.resultCode
        let text = (error as? DatabaseError)?.message ?? "\(error)"
        let (reason, advice): (Reason, String) =
            switch code {
            case ResultCode.SQLITE_FULL?: (.full, "Free some space there, and try again.")
            case ResultCode.SQLITE_READONLY?, ResultCode.SQLITE_PERM?, ResultCode.SQLITE_AUTH?:
                (
                    .denied,
                    "Give the user that runs this program read and write access, or use another directory."
                )
            case ResultCode.SQLITE_BUSY?, ResultCode.SQLITE_LOCKED?, ResultCode.SQLITE_PROTOCOL?:
                (.unavailable, "Another program has locked it. End that program, or try again.")
            case ResultCode.SQLITE_TOOBIG?: (.unavailable, "Split the value into several records.")
            default: (.unavailable, "Check the disk that it is on, and try again.")
            }
        self.init(reason, explanation: "“\(path)” cannot be used: \(text). Nothing was changed. \(advice)")
    }
}
#endif
