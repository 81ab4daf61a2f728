#if SQLite
import Foundation
import GRDB
import InwardRecordDirectories
import InwardRepositories
import Synchronization

/// The database of a ``SQLiteRecordStore``. All methods block.
///
/// Writers hold the directory's lock, as in a file store, so they never wait for SQLite's own lock. A writer that holds the
/// lock checks that its open database is still the one at the store's path.
final class RecordDatabase: Sendable {
    private struct State {
        var connections: DatabaseConnections?
        var isClosed = false
        /// The log size above which the next checkpoint is tried.
        var logBound = 0
    }

    /// The maximum number of damaged rows that are removed one by one before the database is rebuilt.
    private static let repairLimit = 16

    private let files: DatabaseFiles
    private let schema: RecordSchema
    private let limits: DatabaseLimits
    private let byteLimit: Int
    private let now: @Sendable () -> Date
    private let report: @Sendable (RecordDamage) -> Void

    // Held while the database is changed, by threads that may block.
    private let lock: Mutex<RecordLock>
    // Held only briefly, never during I/O.
    private let state: Mutex<State>

    /// Creates a database for a directory. It is opened on first use.
    init(
        _ directory: RecordDirectory,
        byteLimit: Int,
        schema: RecordSchema,
        limits: DatabaseLimits,
        now: @escaping @Sendable () -> Date,
        report: @escaping @Sendable (RecordDamage) -> Void
    ) {
        files = DatabaseFiles(directory: directory)
        self.byteLimit = byteLimit
        self.schema = schema
        self.limits = limits
        self.now = now
        self.report = report
        lock = Mutex(RecordLock(directory))
        state = Mutex(State(logBound: limits.logLength))
    }

    /// Returns the record for a key.
    func record(for key: RecordKey) throws(RecordStoreError) -> StoredRecord? {
        let key = key.encoded
        let row = try reading { try RecordTable(database: $0).row(for: key) }
        let time = now().orderedBits
        return row.flatMap { $0.header.isExpired(at: time) ? nil : $0.record }
    }

    /// Returns the records for several keys with their versions, as they were at one moment.
    func snapshots(for keys: [RecordKey]) throws(RecordStoreError) -> [RecordSnapshot?] {
        let keys = keys.map(\.encoded)
        let rows = try reading(isIsolated: true) { database in
            try keys.map { try RecordTable(database: database).row(for: $0) }
        }
        let time = now().orderedBits
        return rows.map { row in row.flatMap { $0.header.isExpired(at: time) ? nil : $0.snapshot } }
    }

    /// Returns the records for a key and for all keys that begin with it, or the first of them after a key.
    func records(
        under key: RecordKey,
        after last: RecordKey? = nil,
        limit: Int = .max
    ) throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        let (prefix, last, time) = (key.encoded, last?.encoded, now().orderedBits)
        let rows = try reading { database in
            try RecordTable(database: database).rows(under: prefix, after: last, limit: limit) {
                !$0.isExpired(at: time)
            }
        }
        return rows.compactMap { row in
            row.header.key.flatMap { RecordKey(encoded: $0) }.map { (key: $0, record: row.record) }
        }
    }

    /// Reads the records under a key, and returns the losses among them.
    func losses(under key: RecordKey) throws(RecordStoreError) -> RecordLosses {
        let prefix = key.encoded
        // Expired records are read, too, because damage to them is found.
        _ = try reading { try RecordTable(database: $0).rows(under: prefix).count }
        return try reading { try LossTable(database: $0).losses(under: prefix) }
    }

    /// Applies all commits that succeed in one transaction, and returns the outcome of each commit. The caller must hold the
    /// lock.
    func commit(_ group: [RecordCommit]) -> [RecordCommitQueue.Outcome] {
        var outcomes = [RecordCommitQueue.Outcome](repeating: .success(()), count: group.count)
        var rest = Array(group.indices)
        do throws(RecordStoreError) {
            while !rest.isEmpty {
                let commits = rest.map { group[$0] }
                switch try transaction({ try $0.commit(commits, $1) }) {
                case .success(let made):
                    for (index, outcome) in zip(rest, made) { outcomes[index] = outcome }
                    rest = []
                case .failure(let failed): outcomes[rest.remove(at: failed.index)] = .failure(failed.error)
                }
            }
        } catch {
            // A single commit may fit in the database where the whole group does not.
            for index in rest { outcomes[index] = rest.count > 1 ? commit([group[index]])[0] : .failure(error) }
        }
        return outcomes
    }

    /// Leases free records. The caller must hold the lock.
    func lease(
        under key: RecordKey,
        limit: Int,
        for duration: Duration
    ) throws(RecordStoreError) -> [(lease: RecordLease, snapshot: RecordSnapshot)] {
        try transaction { try $0.lease(under: key.encoded, limit: limit, for: duration, $1) }
    }

    /// Changes the end of a lease, if it is still the last one of its record. The caller must hold the lock.
    func extend(_ lease: RecordLease, for duration: Duration) throws(RecordStoreError) -> Bool {
        try transaction { try $0.extend(lease, for: duration, $1) }
    }

    /// Calls a closure with a transaction, and a closure that the transaction calls before it is flushed. The caller must hold
    /// the lock.
    private func transaction<Answer: Sendable>(
        _ body: (RecordTransaction, () throws -> Void) throws -> Answer
    ) throws(RecordStoreError) -> Answer {
        try write { database in
            let transaction = RecordTransaction(
                database: database,
                byteLimit: byteLimit,
                now: now(),
                path: files.path
            )
            return try body(transaction) {
                guard let fault = files.directory.faults(.flush(files.path)) else { return }
                throw RecordStoreError(code: fault.code, path: files.path, "flushed")
            }
        }
    }

    /// Checkpoints the log if it has grown long. If a reader prevents this, a later commit tries again.
    func tidy() {
        guard (try? files.logLength()) ?? 0 > state.withLock(\.logBound) else { return }
        do {
            try exclusively { () throws(RecordStoreError) in try write { try Self.emptyLog($0) } }
        } catch {}
        let length = (try? files.logLength()) ?? 0
        state.withLock { $0.logBound = length + limits.logLength }
    }

    /// Closes the database permanently, after the operations in progress.
    func close() {
        let connections = state.withLock { state in
            defer { state.connections = nil }
            state.isClosed = true
            return state.connections
        }
        connections?.close()
    }

    /// Calls a closure that reads the database. If it is isolated, all of its queries see the same contents.
    private func reading<Answer: Sendable>(
        isIsolated: Bool = false,
        _ body: (Database) throws -> Answer
    ) throws(RecordStoreError) -> Answer {
        func read(_ connections: DatabaseConnections) throws -> Answer {
            try isIsolated ? connections.reader.read(body) : connections.reader.unsafeRead(body)
        }
        do {
            return try read(try current())
        } catch let error where !(error is DamagedRow) && DatabaseDamage(error) == nil {
            throw failure(error)
        } catch {
            return try exclusively { () throws(RecordStoreError) in try repairing { try read($0) } }
        }
    }

    /// Changes the database. The caller must hold the lock.
    private func write<Answer: Sendable>(_ body: (Database) throws -> Answer) throws(RecordStoreError) -> Answer {
        try repairing { try $0.writer.writeWithoutTransaction(body) }
    }

    /// Runs a closure with exclusive write access to the database. Blocks until the lock is available.
    func exclusively<Answer: Sendable>(
        _ body: () throws(RecordStoreError) -> Answer
    ) throws(RecordStoreError) -> Answer {
        try lock.withLock { lock throws(RecordStoreError) in try lock.holding(body) }
    }

    private func failure(_ error: any Error) -> RecordStoreError {
        // An operation that began before the database was closed may fail because of that.
        state.withLock(\.isClosed) ? Self.closed : RecordStoreError(error, path: files.path)
    }

    // MARK: Opening

    /// Returns the database at the store's path, and opens it if necessary.
    private func current() throws(RecordStoreError) -> DatabaseConnections {
        if let connections = try known() { return connections }
        return try exclusively { () throws(RecordStoreError) in try connect() }
    }

    private func known() throws(RecordStoreError) -> DatabaseConnections? {
        let (connections, isClosed) = state.withLock { ($0.connections, $0.isClosed) }
        if isClosed { throw Self.closed }
        guard let connections, try connections.identity == files.identity() else { return nil }
        return connections
    }

    /// Opens the database. The caller must hold the lock.
    private func connect() throws(RecordStoreError) -> DatabaseConnections {
        if let connections = try known() { return connections }
        try files.prepare()
        let connections: DatabaseConnections
        do {
            connections = try open()
        } catch {
            guard let damage = DatabaseDamage(error) else { throw failure(error) }
            try replace(damage)
            do { connections = try open() } catch { throw failure(error) }
        }
        let isClosed = state.withLock { state in
            if !state.isClosed { state.connections = connections }
            return state.isClosed
        }
        guard !isClosed else {
            connections.close()
            throw Self.closed
        }
        return connections
    }

    private func open() throws -> DatabaseConnections {
        let log = try files.damagedLog()
        if let log {
            let path = DamagedRecords(directory: files.directory).add(log.bytes)
            report(.unknown(byteCount: log.byteCount, isLast: true, path: path))
        }
        let connections = try DatabaseConnections(files, schema: schema, limits: limits)
        guard log != nil else { return connections }
        try connections.writer.writeWithoutTransaction { database in
            // An interrupted checkpoint may have copied some of the lost frames to the database, and not others.
            guard try String.fetchOne(database, sql: "PRAGMA integrity_check(1)") == "ok" else {
                throw DatabaseDamage("a part of its log is missing")
            }
            // The lost transactions may have used some numbers.
            try RecordNumbers(database: database).leap()
            // Otherwise, the next process would report the same bytes again.
            try Self.emptyLog(database)
        }
        return connections
    }

    private static func emptyLog(_ database: Database) throws {
        try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
    }

    private static let closed = RecordStoreError(.closed, explanation: "The store is closed. Create another one.")

    // MARK: Repairing

    /// Runs a closure on the database. If damage prevents it, repairs the damage and retries. The caller must hold the lock.
    private func repairing<Answer: Sendable>(
        _ body: (DatabaseConnections) throws -> Answer
    ) throws(RecordStoreError) -> Answer {
        for _ in 0..<Self.repairLimit {
            let connections = try connect()
            do {
                return try body(connections)
            } catch let row as DamagedRow {
                try remove(row, connections)
            } catch {
                guard let damage = DatabaseDamage(error) else { throw failure(error) }
                try replace(damage)
            }
        }
        try replace(DatabaseDamage("many of its records are damaged"))
        let connections = try connect()
        do { return try body(connections) } catch { throw failure(error) }
    }

    /// Removes a damaged row, or replaces the database if the row cannot be found by its key.
    private func remove(_ row: DamagedRow, _ connections: DatabaseConnections) throws(RecordStoreError) {
        do {
            var value: [UInt8] = []
            try connections.writer.writeWithoutTransaction { database in
                try database.inTransaction(.immediate) {
                    let table = RecordTable(database: database)
                    guard let key = row.key, let found = try table.rowAsItIs(for: key), !found.isSound,
                        try table.delete(key)
                    else { throw DatabaseDamage("a damaged record is not where its key belongs") }
                    try RecordTotal(database: database).recount()
                    let losses = LossTable(database: database)
                    if !found.header.isSound {
                        // The key itself may be damaged, so the lost record may have had another key.
                        try losses.add(key)
                        try losses.addUnknown()
                    } else if found.header.expiry == nil {
                        try losses.add(key)
                    }
                    value = found.value
                    return .commit
                }
            }
            let path = DamagedRecords(directory: files.directory).add(value)
            report(.damaged(row.key.flatMap { RecordKey(encoded: $0) }, path: path))
        } catch {
            guard let damage = DatabaseDamage(error) else { throw failure(error) }
            try replace(damage)
        }
    }

    /// Replaces the database with a new one that contains the readable records.
    private func replace(_ damage: DatabaseDamage) throws(RecordStoreError) {
        let connections = state.withLock { state in
            defer { state.connections = nil }
            return state.connections
        }
        connections?.close()
        let restoredCount: Int
        do {
            let new = try DatabaseConnections.writer(try files.prepareNew(), schema: schema, limits: limits)
            restoredCount = try RecordRescue(path: files.path).restore(into: new)
            try new.close()
        } catch {
            throw failure(error)
        }
        report(.database(damage.explanation, restoredCount: restoredCount, path: try files.replace()))
    }
}
#endif
