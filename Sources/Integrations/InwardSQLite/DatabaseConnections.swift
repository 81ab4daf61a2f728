#if SQLite
import Foundation
import GRDB
import InwardRecordDirectories
import InwardRepositories

/// A database that is open: once to be changed, and once to be read meanwhile.
struct DatabaseConnections: Sendable {
    /// How long a connection waits where SQLite itself has the database locked, in seconds.
    private static let patience = 10.0

    /// Changes it.
    let writer: DatabaseQueue
    /// Reads it.
    let reader: DatabaseQueue
    /// Which file it is.
    let identity: RecordFile.Identity

    /// Opens a database, and makes it one of the present form.
    ///
    /// - Throws: ``DatabaseDamage``, or what tells of it, if it is none of a store.
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
        // Who made the log may have been killed before its name was on the disk.
        try files.flush()
    }

    /// Opens a database to be changed, once it is sure that it may be.
    static func writer(
        _ path: String,
        schema: RecordSchema,
        limits: DatabaseLimits
    ) throws -> DatabaseQueue {
        do {
            // Who cannot write does not touch what is of a later form, not even when it is closed.
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
            // The file may be written: so it is its beginning that says it may not, or says something of no sense.
            throw DatabaseDamage(error.message ?? "it cannot be read")
        }
    }

    /// Opens a database to be looked at.
    static func viewer(_ path: String) throws -> DatabaseQueue {
        try DatabaseQueue(path: path, configuration: configuration(isReadOnly: true) { _ in })
    }

    /// Closes both. What is under way is done before.
    func close() {
        // What could not be closed is closed when nobody holds it any more.
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
            // What a damaged page says of itself is seen to be wrong sooner, and what a foreign one says is not done.
            try database.execute(sql: "PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF")
            try prepare(database)
        }
        return configuration
    }
}

extension RecordStoreError {
    /// Why something could not be done to the database at a path.
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
