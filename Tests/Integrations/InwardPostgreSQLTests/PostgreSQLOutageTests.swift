#if PostgreSQL
import InwardRepositories
import Testing

@testable import InwardPostgreSQL

/// A server that is away for longer than callers want to wait.
@Suite(.timeLimit(.minutes(5)))
struct PostgreSQLOutageTests {
    /// An operation that waits for so long exceeds the time limit of the suite.
    private static let timeLimit = Duration.seconds(3_600)

    private let server: PostgreSQLServer
    private let name: String
    private let store: PostgreSQLRecordStore

    init() async throws {
        server = try PostgreSQLServer()
        name = try await server.database()
        store = PostgreSQLRecordStore(
            server.info(name),
            connectionLimit: 2,
            timeLimit: Self.timeLimit,
            connectionTimeLimit: .milliseconds(50)
        )
    }

    private func failures(of count: Int, on store: PostgreSQLRecordStore) async -> [RecordStoreError] {
        await withTaskGroup(of: RecordStoreError?.self) { group in
            for number in 0..<count {
                group.addTask {
                    do throws(RecordStoreError) {
                        if number % 2 == 0 {
                            _ = try await store.record(for: ["a"])
                        } else {
                            try await store.commit([.remove(["a"])])
                        }
                        return nil
                    } catch { return error }
                }
            }
            return await group.reduce(into: []) { failures, failure in if let failure { failures.append(failure) } }
        }
    }

    @Test func operationsFailSoonWhileTheServerIsAwayAndSucceedAfterwards() async throws {
        let store = PostgreSQLRecordStore(
            server.info(name),
            timeLimit: Self.timeLimit,
            connectionTimeLimit: .seconds(1)
        )
        try await store.commit([.keep(StoredRecord([1]), ["a"])])
        try await server.stop(signal: "INT")
        // The first one waits for a second, and the others fail at once.
        for _ in 0..<20 {
            let failures = await failures(of: 5, on: store)
            #expect(failures.count == 5)
            #expect(failures.allSatisfy { $0.reason == .unavailable && $0.explanation.contains("Nothing was changed") })
        }
        try await server.start()
        // At the first attempt.
        #expect(try await store.record(for: ["a"]) == StoredRecord([1]))
    }

    @Test func operationsFailSoonWhileTheServerDoesNotAnswer() async throws {
        try await server.hang()
        for _ in 0..<3 {
            let failures = await failures(of: 20, on: store)
            #expect(failures.count == 20)
            #expect(failures.allSatisfy { $0.reason == .unavailable && $0.explanation.contains("does not answer") })
        }
        try await server.resume()
        // The server may need longer than the operations wait.
        while await failures(of: 1, on: self.store) != [] {}
    }

    @Test func operationsWaitForAServerThatIsBackInTime() async throws {
        let store = PostgreSQLRecordStore(server.info(name), connectionTimeLimit: .seconds(60))
        try await store.commit([.keep(StoredRecord([1]), ["a"])])
        try await server.stop(signal: "INT")
        async let reading = store.record(for: ["a"])
        async let writing: Void = store.commit([.keep(StoredRecord([2]), ["b"])])
        // It is known by now that the server is away.
        #expect(await failures(of: 1, on: self.store).count == 1)
        try await server.start()
        #expect(try await reading == StoredRecord([1]))
        try await writing
    }

    @Test(arguments: [true, false]) func commitsThatHaveBegunWaitLongerThanOthers(areAtTheirEnd: Bool) async throws {
        try await store.commit([.keep(StoredRecord([0]), ["a"])])
        for sql in [
            "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NULL; END'",
            """
            CREATE CONSTRAINT TRIGGER wait AFTER INSERT OR UPDATE ON inward_records DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION wait()
            """,
        ] {
            try await server.execute(sql, in: name)
        }
        // This test holds a lock that commits need at their end, and one that the second commit needs at its beginning.
        let holder = server.session(in: name)
        let table = try await holder.execute("SELECT 'inward_records'::regclass::oid::bigint").first?.integer(0)
        let number = StoreLock(table: try #require(table)).number(of: RecordKey(["b"]).encoded)
        for lock in areAtTheirEnd ? [42] : [42, number] {
            try await holder.execute("SELECT pg_advisory_lock($1::bigint)", .integer(lock))
        }
        async let first: Void = store.commit([.keep(StoredRecord([1]), ["a"])])
        async let second: Void = store.commit([.keep(StoredRecord([2]), ["b"])])
        let waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'advisory'"
        while try await holder.execute(waiting).count < 2 {}
        // They have both connections, so that all others are in the queue.
        async let others = failures(of: 20, on: store)
        try await server.stop(signal: "QUIT")
        #expect(await others.count == 20)
        #expect(await failures(of: 20, on: store).count == 20)
        try await server.start()
        _ = try await (first, second)
        #expect(try await store.records(for: [["a"], ["b"]]).map { $0?.bytes } == [[1], [2]])
    }
}

struct ReachabilityTests {
    private let error = ServerError.unreachable("away")

    @Test func failureBeginsWithTheFirstAttemptAndEndsWithAConnection() throws {
        let reachability = Reachability()
        #expect(reachability.failure == nil)
        reachability.fail(error)
        let start = try #require(reachability.failure?.start)
        reachability.fail(.unreachable("still away"))
        #expect(reachability.failure?.start == start)
        #expect(reachability.failure?.error == .unreachable("still away"))
        do {
            let connection = reachability.open()
            #expect(reachability.failure == nil)
            // The server refuses further connections, but works.
            reachability.fail(error)
            #expect(reachability.failure == nil)
            withExtendedLifetime(connection) {}
        }
        #expect(reachability.failure == nil)
        reachability.fail(error)
        #expect(reachability.failure?.error == error)
    }

    @Test func waitEndsOnce() async {
        let reachability = Reachability()
        reachability.fail(error)
        let (errors, continuation) = AsyncStream<ServerError>.makeStream()
        let wait = ConnectionWait(for: reachability, limit: .milliseconds(1)) { continuation.yield($0) }
        var iterator = errors.makeAsyncIterator()
        #expect(await iterator.next() == error)
        #expect(!wait.end())
        let connected = ConnectionWait(for: reachability, limit: .seconds(60)) { continuation.yield($0) }
        #expect(connected.end())
        #expect(connected.end())
    }
}
#endif
