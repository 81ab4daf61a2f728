#if SQLite
import GRDB
import InwardRepositories

/// The schema of a store's database, as a list of migrations.
struct RecordSchema: Sendable {
    typealias Migration = @Sendable (Database) throws -> Void

    /// The current schema.
    static let current = RecordSchema(migrations: [
        { database in
            try database.execute(
                sql: """
                    CREATE TABLE records (
                        key BLOB NOT NULL PRIMARY KEY, expiry INTEGER, checksum INTEGER NOT NULL,
                        valueChecksum INTEGER NOT NULL, value BLOB NOT NULL
                    ) WITHOUT ROWID;
                    CREATE INDEX recordsByExpiry ON records (expiry) WHERE expiry IS NOT NULL;
                    CREATE TABLE total (byteCount INTEGER NOT NULL, inverse INTEGER NOT NULL);
                    INSERT INTO total VALUES (0, 0);
                    """
            )
        },
        { database in
            try database.execute(
                sql: """
                    CREATE TABLE losses (key BLOB NOT NULL PRIMARY KEY) WITHOUT ROWID;
                    CREATE TABLE unknownLosses (count INTEGER NOT NULL, inverse INTEGER NOT NULL);
                    INSERT INTO unknownLosses VALUES (0, 0);
                    """
            )
        },
        { database in
            // The stamp of each record, before the value, so that it is read without it. Those of an older program are free since
            // the beginning. The table has another name, so that an older program that has the database open fails to find the
            // records, instead of taking them for damaged.
            try database.execute(
                sql: """
                    CREATE TABLE stampedRecords (
                        key BLOB NOT NULL PRIMARY KEY, expiry INTEGER, checksum INTEGER NOT NULL,
                        valueChecksum INTEGER NOT NULL, version INTEGER NOT NULL, token INTEGER NOT NULL,
                        freeSince INTEGER NOT NULL, value BLOB NOT NULL
                    ) WITHOUT ROWID;
                    INSERT INTO stampedRecords
                        SELECT key, expiry, checksum, valueChecksum, 0, 0, \(RecordHeader.beginning), value FROM records;
                    DROP TABLE records;
                    CREATE INDEX recordsByExpiry ON stampedRecords (expiry) WHERE expiry IS NOT NULL;
                    CREATE TABLE numbers (last INTEGER NOT NULL, inverse INTEGER NOT NULL);
                    INSERT INTO numbers VALUES (0, 0);
                    """
            )
        },
    ])

    /// The migrations, each from the previous version to the next. The first one starts with an empty database.
    let migrations: [Migration]

    /// Checks that a database has a known version, without changing it.
    ///
    /// - Throws: A `RecordStoreError` if its version is newer than the newest known one, or ``DatabaseDamage`` if it is not a
    ///   valid database of a store.
    func check(_ database: Database, path: String) throws {
        let version = try Self.version(of: database)
        guard version <= migrations.count else {
            throw RecordStoreError(
                .unavailable,
                explanation: """
                    “\(path)” was written by a newer version of this program: its format is \(version), and this version knows \
                    formats up to \(migrations.count). Nothing was changed. Run the newer version, or use another directory.
                    """
            )
        }
        // These settings determine how SQLite reads and changes the file.
        guard try Int.fetchOne(database, sql: "PRAGMA auto_vacuum") == 0,
            try String.fetchOne(database, sql: "PRAGMA encoding") == "UTF-8"
        else { throw DatabaseDamage("its settings are not those of a store") }
        let roots = try Int.fetchAll(database, sql: "SELECT rootpage FROM sqlite_schema")
        guard Set(roots).count == roots.count else { throw DatabaseDamage("two of its tables share a page") }
        // A database with another schema could return records that were never stored.
        guard try Self.text(of: database) == text(ofVersion: version) else {
            throw DatabaseDamage("its schema is not that of a store")
        }
    }

    /// Migrates a database of a known version to the latest version in one transaction.
    func migrate(_ database: Database) throws {
        try database.inTransaction(.immediate) {
            let version = try Self.version(of: database)
            if version < migrations.count {
                try make(migrations.count, of: database, from: version)
                return .commit
            }
            // If the database is marked as read-only, this fails now instead of at the first commit.
            try database.execute(sql: "UPDATE form SET version = version")
            return .rollback
        }
    }

    private func make(_ version: Int, of database: Database, from start: Int) throws {
        if start == 0, version > 0 {
            try database.execute(
                sql: """
                    CREATE TABLE form (version INTEGER NOT NULL, inverse INTEGER NOT NULL);
                    INSERT INTO form VALUES (0, 0);
                    """
            )
        }
        for migration in migrations[start..<version] { try migration(database) }
        try database.execute(sql: "UPDATE form SET version = ?, inverse = ?", arguments: [version, -version])
    }

    /// Returns the version of a database, or 0 if the database is empty. The version is stored twice, to detect damage.
    private static func version(of database: Database) throws -> Int {
        guard try !text(of: database).isEmpty else { return 0 }
        let row: Row?
        do { row = try Row.fetchOne(database, sql: "SELECT version, inverse FROM form") } catch let error
            as DatabaseError where error.resultCode == .SQLITE_ERROR
        {
            throw DatabaseDamage("it was not created by a store")
        }
        guard let row, let version = Int.fromDatabaseValue(row[0] as DatabaseValue),
            let inverse = Int.fromDatabaseValue(row[1] as DatabaseValue), version > 0,
            inverse == -version
        else {
            throw DatabaseDamage("its version is invalid")
        }
        return version
    }

    /// Returns the schema as the database describes it.
    private static func text(of database: Database) throws -> [[String?]] {
        try Row.fetchAll(database, sql: "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name")
            .map { row in
                (0..<4).map { String.fromDatabaseValue(row[$0] as DatabaseValue) }
            }
    }

    private func text(ofVersion version: Int) throws -> [[String?]] {
        guard version > 0 else { return [] }
        return try DatabaseQueue().writeWithoutTransaction { database in
            try make(version, of: database, from: 0)
            return try Self.text(of: database)
        }
    }
}
#endif
