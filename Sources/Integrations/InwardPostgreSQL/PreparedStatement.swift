#if PostgreSQL
/// The statements that are prepared on each connection, by name.
enum PreparedStatement: String, CaseIterable {
    case read
    case readMany
    case list
    case begin
    case lockStore
    case lockStoreAlone
    case lockKeys
    case removeRange
    case remove
    case keep
    case lockRecords
    case check
    case lease
    case leaseAnywhere
    case extend
    case session
    case commit
    case outcome
    case purge
    case purgeSessions
    case announce
    case readAnnouncements
    case purgeAnnouncements
    case table
    case claim
    case release
    case owner

    /// Seconds since 2001 on the server's clock, by which records expire in all processes alike.
    private static let now = "extract(epoch FROM clock_timestamp())::double precision - 978307200"
    /// The records that have not expired.
    private static let isLive = "(expiry IS NULL OR expiry > \(now))"
    /// The records whose addresses are in a range, and whose keys begin with a prefix. One longer than an address is compared
    /// with the whole key.
    private static let isInRange = """
        address >= $1::bytea AND address < $2::bytea
        AND (octet_length($3::bytea) <= 1024 OR substring(key FROM 1 FOR octet_length($3::bytea)) = $3::bytea)
        """

    /// The SQL. `$1` and so on are the parameters.
    var sql: String {
        switch self {
        case .read:
            "SELECT value, expiry FROM inward_records WHERE address = inward_address($1::bytea) AND \(Self.isLive)"
        case .readMany:
            """
            SELECT place, value, expiry, version FROM unnest($1::bytea[]) WITH ORDINALITY AS wanted(wantedKey, place)
            JOIN inward_records ON address = inward_address(wantedKey) AND \(Self.isLive)
            """
        case .list:
            """
            SELECT coalesce(key, address), value, expiry FROM inward_records WHERE \(Self.isInRange) AND \(Self.isLive)
            ORDER BY address LIMIT $4::bigint
            """
        case .begin: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
        case .lockStore: "SELECT pg_advisory_xact_lock_shared($1::bigint)"
        case .lockStoreAlone: "SELECT pg_advisory_xact_lock($1::bigint)"
        // In the given order, which is the same in all processes, so that commits do not wait for each other in a circle.
        case .lockKeys:
            """
            SELECT CASE WHEN shared = 1 THEN pg_advisory_xact_lock_shared(key) ELSE pg_advisory_xact_lock(key) END
            FROM unnest($1::bigint[], $2::bigint[]) AS locks(key, shared)
            """
        case .removeRange: "DELETE FROM inward_records WHERE \(Self.isInRange)"
        case .remove:
            "DELETE FROM inward_records WHERE address IN (SELECT inward_address(key) FROM unnest($1::bytea[]) AS key)"
        // A record that replaces an expired one does not inherit its lease.
        case .keep:
            """
            INSERT INTO inward_records AS old (address, key, value, expiry)
            SELECT inward_address(kept), CASE WHEN octet_length(kept) > 1024 THEN kept END, new, until
            FROM unnest($1::bytea[], $2::bytea[], $3::double precision[]) AS changes(kept, new, until)
            ON CONFLICT (address) DO UPDATE
            SET value = excluded.value, expiry = excluded.expiry, version = excluded.version,
                token = CASE WHEN old.expiry <= \(Self.now) THEN excluded.token ELSE old.token END,
                free_since = CASE WHEN old.expiry <= \(Self.now) THEN excluded.free_since ELSE old.free_since END
            """
        // Nobody leases the records until the end of the transaction.
        case .lockRecords:
            """
            SELECT FROM inward_records WHERE address IN (SELECT inward_address(locked) FROM unnest($1::bytea[]) AS locked) FOR UPDATE
            """
        // The place of the first condition that is not met.
        case .check:
            """
            SELECT min(place) FROM unnest($1::bytea[], $2::bigint[], $3::bigint[]) WITH ORDINALITY
                AS conditions(wantedKey, wantedVersion, wantedToken, place)
            LEFT JOIN inward_records ON address = inward_address(wantedKey) AND \(Self.isLive)
            WHERE NOT CASE WHEN wantedToken IS NOT NULL THEN coalesce(token = wantedToken AND token > 0, false)
                WHEN wantedVersion IS NOT NULL THEN coalesce(version = wantedVersion, false) ELSE address IS NULL END
            """
        case .lease: Self.lease(in: "inward_queue(address) = inward_queue($1::bytea) AND")
        case .leaseAnywhere: Self.lease(in: "")
        case .extend:
            """
            UPDATE inward_records SET free_since = clock_timestamp() + $3::double precision * interval '1 second'
            WHERE address = inward_address($1::bytea) AND token = $2::bigint AND token > 0 AND \(Self.isLive) RETURNING 1
            """
        case .session:
            """
            INSERT INTO inward_sessions (session, number) VALUES ($1::bytea, $2::bigint)
            ON CONFLICT (session) DO UPDATE SET number = excluded.number, used = excluded.used
            """
        case .commit: "COMMIT"
        // Waits until the transaction that changed the row has ended.
        case .outcome: "SELECT number FROM inward_sessions WHERE session = $1::bytea FOR UPDATE"
        case .purge:
            """
            WITH expired AS (
                SELECT address FROM inward_records WHERE expiry <= \(Self.now) ORDER BY expiry LIMIT 1000 FOR UPDATE SKIP LOCKED
            ), removed AS (
                DELETE FROM inward_records USING expired WHERE inward_records.address = expired.address RETURNING 1
            )
            SELECT count(*) FROM removed
            """
        case .purgeSessions: "DELETE FROM inward_sessions WHERE used < clock_timestamp() - interval '7 days'"
        case .announce:
            """
            INSERT INTO inward_announcements (key)
            SELECT announced FROM unnest($1::bytea[]) WITH ORDINALITY AS announcements(announced, place) ORDER BY place
            """
        // The rows since a transaction, with the oldest transaction that has not ended. Without a row, this one alone.
        case .readAnnouncements:
            """
            SELECT oldest, number, key FROM (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS oldest) AS snapshot
            LEFT JOIN inward_announcements ON xid >= least($1::xid8, oldest) ORDER BY number LIMIT $2::bigint
            """
        case .purgeAnnouncements:
            """
            WITH old AS (
                SELECT xid, number FROM inward_announcements WHERE time < clock_timestamp() - interval '5 minutes'
                ORDER BY time LIMIT 1000 FOR UPDATE SKIP LOCKED
            ), removed AS (
                DELETE FROM inward_announcements AS announced USING old
                WHERE announced.xid = old.xid AND announced.number = old.number RETURNING 1
            )
            SELECT count(*) FROM removed
            """
        case .table: "SELECT 'inward_records'::regclass::oid::bigint"
        case .claim: "SELECT pg_try_advisory_lock($1::bigint)"
        case .release: "SELECT pg_advisory_unlock($1::bigint)"
        case .owner:
            """
            SELECT activity.application_name FROM pg_locks AS locks JOIN pg_stat_activity AS activity USING (pid)
            WHERE locks.locktype = 'advisory' AND locks.granted AND locks.objsubid = 1 AND activity.datname = current_database()
                AND locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
                AND locks.classid::bigint << 32 | locks.objid::bigint = $1::bigint
            """
        }
    }

    /// Leases free records. Those that another instance is leasing or changing are skipped.
    private static func lease(in queue: String) -> String {
        """
        WITH free AS (
            SELECT address, free_since FROM inward_records
            WHERE \(queue) \(isInRange) AND (token = 0 OR free_since <= clock_timestamp()) AND \(isLive)
            ORDER BY free_since, address LIMIT $4::bigint FOR UPDATE SKIP LOCKED
        )
        UPDATE inward_records AS leased
        SET token = nextval('inward_versions'), free_since = clock_timestamp() + $5::double precision * interval '1 second'
        FROM free WHERE leased.address = free.address
        RETURNING coalesce(key, leased.address), value, expiry, version, token, extract(epoch FROM free.free_since)::double precision
        """
    }
}
#endif
