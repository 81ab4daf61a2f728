#if SQLite
import Foundation
import GRDB
import InwardRecordDirectories
import InwardRepositories

/// The open connections of a database: one for writing and one for concurrent reads.
struct DatabaseConnections: Sendable {
    /// The time that a connection waits while SQLite has the database locked, in seconds.
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

    /// Opens a database for writing, after checking that its version permits it.
    static func writer(
        _ path: String,
        schema: RecordSchema,
        limits: DatabaseLimits
    ) throws -> DatabaseQueue {
        do {
            // Check with a read-only connection, so that a database of a later version is not modified, not even on close.
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
            // The file itself is writable, so the header is damaged: it marks the database as read-only or is invalid.
            throw DatabaseDamage(error.message ?? "it cannot be read")
        }
    }

    /// Opens a database for reading.
    static func viewer(_ path: String) throws -> DatabaseQueue {
        try DatabaseQueue(path: path, configuration: configuration(isReadOnly: true) { _ in })
    }

    /// Closes both connections after the operations in progress.
    func close() {
        // A connection that could not be closed is closed when its last reference is released.
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
            throw DatabaseError(message: "it has no log where it is")
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
            // The first setting detects damaged pages earlier. The second keeps a foreign schema from running code.
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
            case ResultCode.SQLITE_FULL?: (.full, "Make room there, and do it again.")
            case ResultCode.SQLITE_READONLY?, ResultCode.SQLITE_PERM?, ResultCode.SQLITE_AUTH?:
                (
                    .denied,
                    "Let the user that this program runs as read and write it, or name another directory."
                )
            case ResultCode.SQLITE_BUSY?, ResultCode.SQLITE_LOCKED?, ResultCode.SQLITE_PROTOCOL?:
                (.unavailable, "Another program has it locked. End that, or do it again.")
            case ResultCode.SQLITE_TOOBIG?: (.unavailable, "Keep what is so large in several records.")
            default: (.unavailable, "Look at the disk that it is on, and do it again.")
            }
        self.init(reason, explanation: "“\(path)” cannot be used: \(text). Nothing was changed. \(advice)")
    }
}
#endif
