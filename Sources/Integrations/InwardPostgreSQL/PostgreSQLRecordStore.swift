#if PostgreSQL
import Foundation
public import InwardRepositories
import Synchronization

/// A durable record store in a PostgreSQL database, which any number of machines share.
///
/// ```swift
/// let store = PostgreSQLRecordStore("postgresql://shop@db.example.org/shop?sslrootcert=/etc/ssl/certs/ca-certificates.crt")
/// try await store.commit([.keep(StoredRecord(Array("Ada".utf8)), ["users", "1"])])
/// let user = try await store.record(for: ["users", "1"])
/// ```
///
/// **Durability.** When a commit returns, the server has flushed its changes to its disk. They survive crashes of the program and of the
/// server. After a failover, they are there if the standby was synchronous.
///
/// **Atomicity.** Readers see all changes of a commit or none. Commits that affect a common key are made one after the other. If
/// the connection is lost during a commit, the store connects again and asks the server whether the commit was made, so that it
/// is neither lost nor made twice. If the server does not come back within the time limit, the commit fails as `outcomeUnknown`.
///
/// **Waiting.** While the server cannot be reached, for example during a restart, operations retry until their deadline or the store's
/// `connectionTimeLimit`, which begins with the first failed attempt to connect. Later operations make one attempt, so that they fail
/// at once during a long outage, and succeed at once after it. A commit or a lease that has begun is completed, and waits for the
/// server up to the `timeLimit`. A task that is cancelled stops waiting, and its read is cancelled on the server, too.
///
/// **Claims.** A key is claimed with an advisory lock of the session. It ends when the process ends, even if it is killed. If the
/// connection is lost, the store claims its keys again as soon as the server has ended the old session, but another process may be
/// faster.
///
/// **Announcements.** They reach all stores that use the same tables, in any process. A commit that announces something also inserts
/// a row for each key. The store then notifies the listeners, and does not wait for them. Should a notification be lost, they find the
/// rows within a second. A store listens on a connection of its own, from the first call of ``announcements(under:)`` until the last
/// of its sequences has ended.
///
/// **Tables.** The store creates its tables on first use, in the first schema of the search path. Several programs may start at once. It
/// refuses tables of a newer version of this package. Do not connect through a pooler that shares sessions, such as
/// PgBouncer in transaction mode.
public final class PostgreSQLRecordStore: SharedRecordStore {
    /// PostgreSQL accepts values of up to 1 GiB.
    private static let commitByteLimit = 900 * 1_024 * 1_024
    /// Longer durations would exceed the server's time.
    private static let longestLease = Duration.seconds(3_000_000_000)

    private let connections: ConnectionPool
    private let claims: KeyClaims
    private let purging = Purging()
    private let sender = AnnouncementSender()
    private let listener: AnnouncementListener

    /// Creates a store. It connects on first use.
    ///
    /// - Parameters:
    ///   - connectionString: The connection string or URI, as libpq reads it. Missing settings come from environment variables such as
    ///     `PGHOST`. By default, the server's certificate must match its host name (`sslmode=verify-full`).
    ///   - connectionLimit: The maximum number of connections, at least 1. Claims use one additional connection,
    ///     and announcements another one while somebody listens.
    ///   - timeLimit: How long an operation waits for a connection, retries, and waits for an answer.
    ///   - connectionTimeLimit: How long operations wait while the server cannot be reached, from the first failed attempt to connect.
    ///     Make it longer than a restart of the server, and shorter than callers want to wait during an outage.
    public convenience init(
        _ connectionString: String,
        connectionLimit: Int = 8,
        timeLimit: Duration = .seconds(30),
        connectionTimeLimit: Duration = .seconds(1)
    ) {
        self.init(
            connectionString,
            connectionLimit: connectionLimit,
            timeLimit: timeLimit,
            connectionTimeLimit: connectionTimeLimit,
            pollInterval: .seconds(1)
        )
    }

    /// Creates a store that also polls for announcements, in case a notification is lost.
    init(
        _ connectionString: String,
        connectionLimit: Int,
        timeLimit: Duration,
        connectionTimeLimit: Duration,
        pollInterval: Duration
    ) {
        let process = ProcessInfo.processInfo
        let settings = PoolSettings(
            info: connectionString,
            application: "inward \(process.processIdentifier)@\(process.hostName)",
            connectionLimit: max(1, connectionLimit),
            timeLimit: timeLimit,
            connectionTimeLimit: connectionTimeLimit,
            prepare: { connection, limit throws(ServerError) in try RecordSchema.prepare(connection, limit) }
        )
        connections = ConnectionPool(settings)
        claims = KeyClaims(settings)
        listener = AnnouncementListener(settings, pollInterval: pollInterval)
    }

    deinit { listener.close() }

    /// Closes the connections after all earlier operations, and ends all announcements. Later calls fail with the reason `closed`.
    ///
    /// Without this call, the connections are closed after the last reference to the store is released.
    public func close() {
        connections.close()
        claims.close()
        listener.close()
    }

    /// Returns the record for a key, or `nil` if it does not exist or has expired.
    ///
    /// - Throws: A `RecordStoreError` if the server cannot be reached, or if the task is cancelled or its deadline passes first.
    /// - Complexity: O(log *n*) in the number of records in the store.
    public func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        let key = key.encoded
        return try await connections.read { connection, limit throws(ServerError) in
            let rows = try connection.run([Statement(.read, [.bytes(key)])], within: limit)
            return rows.first?.first.map { StoredRecord($0, value: 0) }
        }
    }

    /// Returns the records for several keys, in one exchange with the server.
    ///
    /// - Throws: A `RecordStoreError` if the server cannot be reached, or if the task is cancelled or its deadline passes first.
    /// - Complexity: O(*k* log *n*) for *k* keys.
    public func records(for keys: [RecordKey]) async throws(RecordStoreError) -> [StoredRecord?] {
        try await snapshots(for: keys).map { $0?.record }
    }

    /// Returns the records for several keys and their versions, in one exchange with the server.
    ///
    /// - Throws: A `RecordStoreError` if the server cannot be reached, or if the task is cancelled or its deadline passes first.
    /// - Complexity: O(*k* log *n*) for *k* keys.
    public func snapshots(for keys: [RecordKey]) async throws(RecordStoreError) -> [RecordSnapshot?] {
        let encoded = keys.map(\.encoded)
        return try await connections.read { connection, limit throws(ServerError) in
            let rows = try connection.run([Statement(.readMany, [.byteArrays(encoded)])], within: limit)
            var snapshots = [RecordSnapshot?](repeating: nil, count: keys.count)
            for row in rows.first ?? [] {
                guard let place = row.integer(0).map({ Int($0) - 1 }), keys.indices.contains(place) else { continue }
                snapshots[place] = RecordSnapshot(row, under: keys[place], value: 1)
            }
            return snapshots
        }
    }

    /// Returns the records whose keys begin with a key, in key order, from one consistent snapshot.
    ///
    /// - Throws: A `RecordStoreError` if the server cannot be reached, or if the task is cancelled or its deadline passes first.
    /// - Complexity: O(*n*) in the number of records returned.
    public func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        let range = RecordRange(of: key.encoded)
        return try await connections.read { connection, limit throws(ServerError) in
            try RecordList(connection: connection, end: .now + limit).records(in: range)
        }
    }

    /// Returns a page of the records whose keys begin with a key, in key order.
    ///
    /// - Throws: A `RecordStoreError` if the server cannot be reached, or if the task is cancelled or its deadline passes first.
    /// - Complexity: O(*n*) in the number of records returned, if no keys of more than 1,024 bytes begin alike.
    public func records(
        under key: RecordKey,
        after last: RecordKey?,
        limit: Int
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        let range = RecordRange(of: key.encoded)
        return try await connections.read { connection, timeLimit throws(ServerError) in
            try RecordList(connection: connection, end: .now + timeLimit).page(of: range, after: last, limit: limit)
        }
    }

    /// Returns no losses: the server's checksums detect damage, and a damaged page is an error of the server.
    ///
    /// - Throws: A `RecordStoreError` if the task is cancelled.
    public func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses {
        guard !Task.isCancelled else {
            throw RecordStoreError(.cancelled, explanation: "The task was cancelled before the store was asked.")
        }
        return RecordLosses()
    }

    /// Applies all changes in order, and returns when they are durable. If it throws, it has changed nothing, unless the error
    /// says that the outcome is not known.
    ///
    /// - Throws: A `RecordStoreError` if the server cannot be reached or refuses the changes, or if the task is cancelled or its
    ///   deadline passes before the store begins to write.
    public func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        try await commit(changes, if: [])
    }

    /// Applies all changes in order if all conditions are met, and returns when they are durable.
    ///
    /// - Throws: A `RecordStoreError` as ``commit(_:)``, and one with the reason `conflict` if a condition is not met.
    public func commit(
        _ changes: [RecordChange],
        if conditions: [RecordCondition]
    ) async throws(RecordStoreError) {
        let commit = RecordCommit(changes, if: conditions)
        guard commit.byteCount <= Self.commitByteLimit else {
            throw RecordStoreError(
                .full,
                explanation:
                    "The commit has \(commit.byteCount) bytes, and \(Self.commitByteLimit) are allowed. Nothing was changed."
            )
        }
        let unmet = try await connections.write { connection, limit throws(ServerError) -> RecordCondition? in
            commit.isEmpty ? nil : try CommitAttempt(connection: connection, limit: limit).make(commit)
        }
        if let unmet { throw .conflict(unmet) }
        if !commit.announced.isEmpty { sender.send(on: connections) }
        if purging.isDue() { connections.perform { [purging] connection in purging.purge(connection) } }
    }

    /// Leases free records, by the server's clock. Skips those that another instance is leasing or changing.
    ///
    /// - Throws: A `RecordStoreError` if the server cannot be reached, or if the task is cancelled or its deadline passes before
    ///   the lease begins.
    /// - Complexity: O(*m*) in the number of records whose keys have the same first two components as the key.
    public func lease(
        under key: RecordKey,
        limit: Int,
        for duration: Duration
    ) async throws(RecordStoreError) -> [(lease: RecordLease, snapshot: RecordSnapshot)] {
        let isDeep = key.components.count >= 2
        let parameters =
            RecordRange(of: key.encoded).parameters + [.integer(Int64(max(0, limit))), .number(Self.seconds(duration))]
        return try await connections.write { connection, timeLimit throws(ServerError) in
            let statement = Statement(isDeep ? .lease : .leaseAnywhere, parameters)
            let rows = try connection.run([statement], within: timeLimit, isInterruptible: false).first ?? []
            return rows.sorted { ($0.number(5) ?? 0) < ($1.number(5) ?? 0) }.compactMap { row in
                guard let key = row.bytes(0).flatMap({ RecordKey(encoded: $0) }), let token = row.integer(4) else {
                    return nil
                }
                return (
                    RecordLease(key, token: UInt64(bitPattern: token)), RecordSnapshot(row, under: key, value: 1)
                )
            }
        }
    }

    /// Sets the end of a lease to a duration from now, by the server's clock.
    ///
    /// - Throws: A `RecordStoreError` if the server cannot be reached, or if the task is cancelled or its deadline passes before
    ///   the change begins.
    public func extend(_ lease: RecordLease, for duration: Duration) async throws(RecordStoreError) -> Bool {
        let parameters: [Parameter] = [
            .bytes(lease.key.encoded), .integer(Int64(bitPattern: lease.token)), .number(Self.seconds(duration)),
        ]
        return try await connections.write { connection, limit throws(ServerError) in
            try connection.run([Statement(.extend, parameters)], within: limit, isInterruptible: false).first?.isEmpty
                == false
        }
    }

    private static func seconds(_ duration: Duration) -> Double {
        min(max(duration, .zero - longestLease), longestLease) / .seconds(1)
    }

    /// Returns what commits announce about a key, from all stores that use the same tables.
    ///
    /// The first element says that the store has reached the server and listens. Commits are reported from then on.
    public func announcements(under key: RecordKey) -> RecordAnnouncements { listener.announcements(under: key) }

    /// Claims a key, or returns its current owner. The call does not wait for the owner.
    ///
    /// - Throws: A `RecordStoreError` if the server cannot be reached, or if the task was cancelled before the call.
    public func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult {
        try await claims.claim(key)
    }
}

/// Removes expired records and old announcements from time to time.
final class Purging: Sendable {
    /// The time between two removals by one store.
    private static let interval = Duration.seconds(10)

    private let next = Mutex(ContinuousClock.now + interval)

    /// Returns whether it is time for the next removal.
    func isDue() -> Bool {
        next.withLock { next in
            guard .now >= next else { return false }
            next = .now + Self.interval
            return true
        }
    }

    /// Removes expired records, old announcements, and the rows of sessions that are long gone. If that fails, the next removal tries again.
    func purge(_ connection: ServerConnection?) {
        guard let connection, connection.isConnected else { return }
        let end = ContinuousClock.now + .seconds(5)
        do throws(ServerError) {
            for statement in [PreparedStatement.purge, .purgeAnnouncements] {
                var count: Int64 = 1
                while count > 0, .now < end {
                    count = try connection.run([Statement(statement)], within: end - .now).first?.first?.integer(0) ?? 0
                }
            }
            _ = try connection.run([Statement(.purgeSessions)], within: .seconds(5))
        } catch {}
    }
}
#endif
