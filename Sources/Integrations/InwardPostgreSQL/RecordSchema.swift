#if PostgreSQL
/// The tables of a store, which are in the first schema of the connection's search path.
///
/// | version | tables |
/// |---|---|
/// | 1 | `inward_schema`, `inward_records`, `inward_sessions` |
/// | 2 | `inward_announcements` is added |
enum RecordSchema {
    /// The version of the tables that this program reads and writes.
    static let version = 2

    /// The lock of those who create or change the tables: the bytes of “inward” and two zeros.
    private static let lock: Int64 = 0x696E_7761_7264_0000

    /// The statements that change the tables to each version from the one before.
    ///
    /// A key can be longer than an entry of an index. `address` is therefore the key, or for a long one its beginning and a
    /// digest. It sorts like the key, except among long keys with the same beginning. `key` is `NULL` if it is the address.
    ///
    /// `token` is the fencing token of the last lease, which ends or ended at `free_since`. An index orders the records with the
    /// same first two components by this time.
    ///
    /// An announcement that a crash of the server destroys is not needed: all connections are lost with it, and listeners then assume
    /// that anything has changed.
    private static let migrations: [[String]] = [
        [
            """
            CREATE FUNCTION inward_address(key bytea) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
            SELECT CASE WHEN octet_length(key) <= 1024 THEN key ELSE substring(key FROM 1 FOR 1024) || sha256(key) END $$
            """,
            """
            CREATE FUNCTION inward_queue(address bytea) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
            SELECT substring(head FROM 1 FOR position('\\x00'::bytea IN head)
                + position('\\x00'::bytea IN substring(head FROM position('\\x00'::bytea IN head) + 1)))
            FROM substring(address FROM 1 FOR 1024) AS head $$
            """,
            "CREATE SEQUENCE inward_versions",
            """
            CREATE TABLE inward_records (
                address bytea PRIMARY KEY,
                key bytea,
                value bytea NOT NULL,
                expiry double precision,
                version bigint NOT NULL DEFAULT nextval('inward_versions'),
                token bigint NOT NULL DEFAULT 0,
                free_since timestamptz NOT NULL DEFAULT clock_timestamp()
            )
            """,
            "CREATE INDEX inward_records_expiry ON inward_records (expiry) WHERE expiry IS NOT NULL",
            "CREATE INDEX inward_records_queue ON inward_records (inward_queue(address), free_since)",
            """
            CREATE TABLE inward_sessions (
                session bytea PRIMARY KEY,
                number bigint NOT NULL,
                used timestamptz NOT NULL DEFAULT clock_timestamp()
            )
            """,
            "CREATE TABLE inward_schema (version integer NOT NULL)",
            "INSERT INTO inward_schema VALUES (0)",
        ],
        [
            """
            CREATE UNLOGGED TABLE inward_announcements (
                number bigserial,
                xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
                key bytea NOT NULL,
                time timestamptz NOT NULL DEFAULT clock_timestamp(),
                PRIMARY KEY (xid, number)
            )
            """,
            "CREATE INDEX inward_announcements_time ON inward_announcements (time)",
        ],
    ]

    /// Prepares a new connection: checks the version of the tables, creates or changes them if necessary, and prepares the
    /// statements.
    ///
    /// Several programs may start at once: the first one creates the tables, and the others wait for it.
    static func prepare(_ connection: ServerConnection, _ limit: Duration) throws(ServerError) {
        let end = ContinuousClock.now + limit
        let settings = [durability] + settings(limit).map { Statement(sql: $0.sql, [.text($0.value)]) }
        _ = try connection.run(settings, within: end - .now)
        if try version(connection, end) < version { try migrate(connection, end) }
        try connection.prepare(PreparedStatement.allCases, within: end - .now)
        let table = try connection.run([Statement(.table)], within: end - .now)
        guard let number = table.first?.first?.integer(0) else { throw .lost("the server does not name its table") }
        let session = StoreSession(table: number)
        _ = try connection.run([session.statement], within: end - .now)
        connection.session = session
    }

    /// Makes commits of a session durable when they return, whatever the server's default is.
    static let durability = Statement(
        sql: "SELECT set_config('synchronous_commit', $1, false) WHERE current_setting('synchronous_commit') = 'off'",
        [.text("on")]
    )

    /// The settings of a session, in addition to its durability.
    private static func settings(_ limit: Duration) -> [(sql: String, value: String)] {
        let milliseconds = String(Int(min(limit / .milliseconds(1), 1e9)))
        return [
            // The server ends what a process that has vanished has left: waits for locks, transactions and sessions.
            ("SELECT set_config('lock_timeout', $1, false)", milliseconds),
            ("SELECT set_config('idle_in_transaction_session_timeout', $1, false)", milliseconds),
            ("SELECT set_config('tcp_keepalives_idle', $1, false)", "10"),
            ("SELECT set_config('tcp_keepalives_interval', $1, false)", "5"),
            ("SELECT set_config('tcp_keepalives_count', $1, false)", "3"),
        ]
    }

    /// Returns the version of the tables, or 0 if there are none.
    private static func version(
        _ connection: ServerConnection,
        _ end: ContinuousClock.Instant
    ) throws(ServerError) -> Int {
        do throws(ServerError) {
            let rows = try connection.run([Statement(sql: "SELECT version FROM inward_schema")], within: end - .now)
            let found = rows.first?.first?.integer(0).map { Int($0) } ?? 0
            guard found <= version else { throw ServerError.newerSchema(found) }
            return found
        } catch .refused(code: "42P01", _) {
            return 0
        }
    }

    private static func migrate(
        _ connection: ServerConnection,
        _ end: ContinuousClock.Instant
    ) throws(ServerError) {
        do throws(ServerError) {
            _ = try connection.run(
                [
                    Statement(sql: "BEGIN"),
                    Statement(sql: "SELECT pg_advisory_xact_lock($1::bigint)", [.integer(lock)]),
                ],
                within: end - .now
            )
            // Another program may have done it meanwhile.
            let exists = try connection.run(
                [Statement(sql: "SELECT to_regclass('inward_schema') IS NOT NULL")],
                within: end - .now
            )
            let found = exists.first?.first?.bytes(0) == [1] ? try version(connection, end) : 0
            let changes = migrations.dropFirst(found).joined().map { Statement(sql: $0) }
            let last = Statement(sql: "UPDATE inward_schema SET version = $1::bigint", [.integer(Int64(version))])
            _ = try connection.run(changes + [last, Statement(sql: "COMMIT")], within: end - .now)
        } catch {
            // Also ends the transaction.
            connection.disconnect()
            throw error
        }
    }
}
#endif
