#if PostgreSQL
import Foundation
import InwardRepositories
import Synchronization
import Testing

@testable import InwardPostgreSQL

/// A server that restarts, connections that are cut, and statements that are cancelled.
@Suite(.timeLimit(.minutes(5)))
struct PostgreSQLFailureTests {
    private static let cut = """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
        """

    private let server: PostgreSQLServer
    private let name: String
    private var database: String { server.info(name) }

    init() async throws {
        server = try PostgreSQLServer.shared.get()
        name = try await server.database()
    }

    /// Increments a counter with conditional commits until a condition holds. Nobody else changes it, so a conflict is a commit
    /// that was made twice, or one that was made although it failed.
    private func count(_ name: String, in store: PostgreSQLRecordStore, until isDone: () -> Bool) async throws -> Int {
        var count = 0
        var old = try await store.snapshot(for: ["counters", name])
        repeat {
            count += 1
            let new = StoredRecord(Array(String(count).utf8))
            try await store.commit(
                [.keep(new, ["counters", name])],
                if: [.isUnchanged(["counters", name], since: old)]
            )
            old = try await store.snapshot(for: ["counters", name])
            #expect(old?.record == new)
        } while !isDone()
        return count
    }

    @Test func noCommitIsLostOrMadeTwiceWhileConnectionsAreCut() async throws {
        let store = PostgreSQLRecordStore(
            database,
            connectionLimit: 4,
            timeLimit: .seconds(120),
            connectionTimeLimit: .seconds(120)
        )
        let isDone = Flag()
        // A commit between two cuts, so that a slow machine also connects.
        let (commits, committed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<6 {
                group.addTask {
                    defer { committed.finish() }
                    return try await count("\(task)", in: store) {
                        committed.yield()
                        return isDone.value
                    }
                }
            }
            for await _ in commits.prefix(100) { try await server.execute(Self.cut, in: name) }
            isDone.raise()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts.allSatisfy { $0 > 0 })
    }

    @Test(arguments: ["INT", "QUIT"]) func noCommitIsLostOrMadeTwiceWhileTheServerRestarts(signal: String) async throws
    {
        let server = try PostgreSQLServer()
        let info = server.info(try await server.database())
        let store = PostgreSQLRecordStore(
            info,
            connectionLimit: 4,
            timeLimit: .seconds(120),
            connectionTimeLimit: .seconds(120)
        )
        let isDone = Flag()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<6 {
                group.addTask { try await count("\(task)", in: store) { isDone.value } }
            }
            for _ in 0..<3 { try await server.restart(signal: signal) }
            isDone.raise()
            try await group.waitForAll()
        }
    }

    @Test func commitThatIsCutOffWhileTheServerMakesItIsMadeOnce() async throws {
        let store = PostgreSQLRecordStore(database)
        try await store.commit([.keep(StoredRecord([0]), ["a"])])
        // The commit waits for a lock that this test holds.
        for sql in [
            "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NULL; END'",
            """
            CREATE CONSTRAINT TRIGGER wait AFTER INSERT OR UPDATE ON inward_records DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION wait()
            """,
        ] {
            try await server.execute(sql, in: name)
        }
        let holder = server.session(in: name)
        try await holder.execute("SELECT pg_advisory_lock(42)")
        async let commit: Void = store.commit([.keep(StoredRecord([1]), ["a"])])
        let waiting = """
            SELECT pid::bigint FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory' AND query = 'COMMIT'
            """
        for _ in 0..<2 {
            var pid: Int64?
            while pid == nil {
                pid = try await holder.execute(waiting).first?.integer(0)
            }
            try await holder.execute("SELECT pg_terminate_backend($1::bigint::integer)", .integer(pid ?? 0))
        }
        #expect(try await PostgreSQLRecordStore(database).record(for: ["a"]) == StoredRecord([0]))
        try await holder.execute("SELECT pg_advisory_unlock(42)")
        try await commit
        #expect(try await store.record(for: ["a"]) == StoredRecord([1]))
    }

    @Test func cancelledReadIsCancelledOnTheServer() async throws {
        let pool = ConnectionPool(settings())
        let holder = server.session(in: name)
        try await holder.execute("SELECT pg_advisory_lock(7)")
        let reading = Task {
            try await pool.read { connection, limit throws(ServerError) in
                try connection.run([Statement(sql: "SELECT pg_advisory_lock(7)")], within: limit).count
            }
        }
        let waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'"
        while try await holder.execute(waiting).isEmpty {}
        reading.cancel()
        let failure = await #expect(throws: RecordStoreError.self) { _ = try await reading.value }
        #expect(failure?.reason == .cancelled)
        // The only connection is free again, although the lock is not.
        let pid = try await pool.read { connection, limit throws(ServerError) in
            try connection.run([Statement(sql: "SELECT pg_backend_pid()::bigint")], within: limit).first?.first?
                .integer(0)
        }
        #expect(pid != nil)
        #expect(try await holder.execute(waiting).isEmpty)
    }

    @Test func claimsAreTakenAgainAfterALostConnection() async throws {
        let (one, two) = (PostgreSQLRecordStore(database), PostgreSQLRecordStore(database))
        guard case .claimed(let claim) = try await one.claim(["a"]) else {
            Issue.record("A free key must be claimable.")
            return
        }
        try await server.execute(Self.cut, in: name)
        // Makes the connection again, if the store has not noticed yet.
        guard case .claimed(let other) = try await one.claim(["b"]) else {
            Issue.record("A free key must be claimable.")
            return
        }
        guard case .owned = try await two.claim(["a"]) else {
            Issue.record("The first store must own the key again.")
            return
        }
        await claim.release()
        await other.release()
        guard case .claimed(let last) = try await two.claim(["a"]) else {
            Issue.record("A released key must be claimable.")
            return
        }
        await last.release()
    }

    @Test func claimIsTakenAgainOnceTheOldSessionHasEnded() async throws {
        let (one, two) = (PostgreSQLRecordStore(database), PostgreSQLRecordStore(database))
        guard case .claimed(let claim) = try await one.claim(["a"]) else {
            Issue.record("A free key must be claimable.")
            return
        }
        // Gets the lock when the store's session ends, as if the server had not noticed the end of that session.
        let holder = server.session(in: name)
        let table = try await holder.execute("SELECT 'inward_records'::regclass::oid::bigint").first?.integer(0)
        let number = StoreLock(table: try #require(table)).number(ofClaim: RecordKey(["a"]).encoded)
        async let locked = holder.execute("SELECT pg_advisory_lock($1::bigint)", .integer(number))
        let waiting =
            "SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND datname = current_database()"
        while try await server.execute(waiting, in: name).isEmpty {}
        let owner = """
            SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
            WHERE locktype = 'advisory' AND granted AND application_name LIKE 'inward %' AND datname = current_database()
            """
        try await server.execute(owner, in: name)
        _ = try await locked
        // Makes the connection again, if the store has not noticed yet. The key has another owner.
        if case .claimed(let other) = try await one.claim(["b"]) { await other.release() }
        try await holder.execute("SELECT pg_advisory_unlock($1::bigint)", .integer(number))
        let owned = """
            SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
            WHERE locktype = 'advisory' AND granted AND application_name LIKE 'inward %' AND datname = current_database()
            """
        while try await server.execute(owned, in: name).isEmpty {}
        guard case .owned = try await two.claim(["a"]) else {
            Issue.record("The first store must own the key again.")
            return
        }
        await claim.release()
    }

    @Test func operationsWithoutAServerFailAfterTheTimeLimitAndSayWhy() async {
        let store = PostgreSQLRecordStore(
            "postgresql://127.0.0.1:1/x?sslmode=disable",
            timeLimit: .milliseconds(50)
        )
        let failure = await #expect(throws: RecordStoreError.self) { try await store.commit([.remove(["a"])]) }
        #expect(failure?.reason == .unavailable)
        #expect(
            failure?.explanation == """
                PostgreSQL at 127.0.0.1:1: Connection refused. Nothing was changed. Check that the server runs, and the connection \
                string.
                """
        )
    }

    private func settings() -> PoolSettings {
        PoolSettings(
            info: database,
            application: "test",
            connectionLimit: 1,
            timeLimit: .seconds(60),
            connectionTimeLimit: .seconds(60),
            prepare: { _, _ in }
        )
    }
}

/// Tells tasks to end.
final class Flag: Sendable {
    private let isRaised = Atomic(false)

    var value: Bool { isRaised.load(ordering: .relaxed) }

    func raise() { isRaised.store(true, ordering: .relaxed) }
}
#endif
