#if PostgreSQL
import Foundation
import InwardRepositories
import Testing

@testable import InwardPostgreSQL

@Suite(.timeLimit(.minutes(5)))
struct PostgreSQLRecordStoreTests {
    private let server: PostgreSQLServer
    private let name: String
    private var database: String { server.info(name) }

    init() async throws {
        server = try PostgreSQLServer.shared.get()
        name = try await server.database()
    }

    private func record(_ text: String) -> StoredRecord { StoredRecord(Array(text.utf8)) }

    @Test func programsThatStartTogetherCreateTheTablesOnce() async throws {
        try await withThrowingTaskGroup { group in
            for number in 0..<8 {
                group.addTask {
                    try await PostgreSQLRecordStore(database).commit([
                        .keep(record("started"), ["programs", "\(number)"])
                    ])
                }
            }
            try await group.waitForAll()
        }
        #expect(try await PostgreSQLRecordStore(database).records(under: ["programs"]).count == 8)
        #expect(
            try await server.execute("SELECT version::bigint FROM inward_schema", in: name).map { $0.integer(0) } == [2]
        )
    }

    /// Otherwise, all commits of an outbox would wait for each other, because each has a condition about the owner's record.
    @Test func commitsShareTheLockOfAKeyThatTheyOnlyHaveAConditionAbout() async throws {
        let store = PostgreSQLRecordStore(database)
        try await store.commit([.keep(record("owner"), ["owner"])])
        // This test holds the lock as another commit with such a condition does.
        let holder = server.session(in: name)
        let table = try await holder.execute("SELECT 'inward_records'::regclass::oid::bigint").first?.integer(0)
        let number = StoreLock(table: try #require(table)).number(of: RecordKey(["owner"]).encoded)
        try await holder.execute("SELECT pg_advisory_lock_shared($1::bigint)", .integer(number))
        let owner = try await store.snapshot(for: ["owner"])
        try await store.commit([.keep(record("kept"), ["a"])], if: [.isUnchanged(["owner"], since: owner)])
        #expect(try await store.record(for: ["a"]) == record("kept"))
        // A change of the record waits until the holder has released the lock.
        async let change: Void = store.commit([.keep(record("other"), ["owner"])])
        let waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'advisory'"
        while try await holder.execute(waiting).isEmpty {}
        try await holder.execute("SELECT pg_advisory_unlock_shared($1::bigint)", .integer(number))
        try await change
        await #expect(throws: RecordStoreError.self) {
            try await store.commit([.keep(record("late"), ["a"])], if: [.isUnchanged(["owner"], since: owner)])
        }
        #expect(try await store.record(for: ["a"]) == record("kept"))
    }

    @Test func tablesOfANewerVersionAreRefusedAndUnchanged() async throws {
        try await PostgreSQLRecordStore(database).commit([.keep(record("old"), ["a"])])
        try await server.execute("UPDATE inward_schema SET version = 3", in: name)
        let store = PostgreSQLRecordStore(database)
        let failure = await #expect(throws: RecordStoreError.self) { try await store.commit([.remove(["a"])]) }
        #expect(failure?.reason == .denied)
        #expect(failure?.explanation.contains("version 3, which is newer than this program") == true)
        #expect(try await server.execute("SELECT 1 FROM inward_records", in: name).count == 1)
    }

    @Test func schemasOfADatabaseAreIndependent() async throws {
        try await server.execute("CREATE SCHEMA one", in: name)
        try await server.execute("CREATE SCHEMA two", in: name)
        let one = PostgreSQLRecordStore("\(database) options=-csearch_path=one")
        let two = PostgreSQLRecordStore("\(database) options=-csearch_path=two")
        try await one.commit([.keep(record("one"), ["a"])])
        #expect(try await two.record(for: ["a"]) == nil)
        guard case .claimed(let first) = try await one.claim(["a"]),
            case .claimed(let second) = try await two.claim(["a"])
        else {
            Issue.record("A claim in one schema must not affect another.")
            return
        }
        await first.release()
        await second.release()
    }

    @Test func missingSchemaIsRefused() async throws {
        let store = PostgreSQLRecordStore("\(database) options=-csearch_path=nowhere")
        let failure = await #expect(throws: RecordStoreError.self) { try await store.record(for: ["a"]) }
        #expect(failure?.reason == .denied)
    }

    @Test func ownerOfAClaimIsNamed() async throws {
        let (one, two) = (PostgreSQLRecordStore(database), PostgreSQLRecordStore(database))
        guard case .claimed(let claim) = try await one.claim(["a"]), case .owned(let owner) = try await two.claim(["a"])
        else {
            Issue.record("The first store must own the key.")
            return
        }
        #expect(owner.hasPrefix("inward \(ProcessInfo.processInfo.processIdentifier)@"))
        await claim.release()
    }

    @Test func pagesOfLongKeysThatBeginAlikeAreInOrder() async throws {
        let store = PostgreSQLRecordStore(database)
        let long = String(repeating: "x", count: 1_100)
        let keys: [RecordKey] =
            (0..<20).map { ["long", "\(long)\($0)"] }
            + [
                ["long", "a"], ["long", "y"], ["long", long], ["long", long, "child"],
                ["long", String(repeating: "x", count: 1_017)],
            ]
        try await store.commit(keys.map { .keep(record("\($0.components.count)"), $0) })
        for limit in [1, 2, 3, 7, 100] {
            var found: [RecordKey] = []
            while true {
                let page = try await store.records(under: ["long"], after: found.last, limit: limit)
                #expect(page.count <= limit)
                if page.isEmpty { break }
                found += page.map(\.key)
            }
            #expect(found == keys.sorted())
        }
        #expect(
            try await store.records(under: ["long", long]).map(\.key) == [["long", long], ["long", long, "child"]]
        )
        try await store.commit([.removeAll(["long", long])])
        #expect(try await store.records(under: ["long"]).count == keys.count - 2)
    }

    @Test func expiredRecordsAreRemovedInTheBackground() async throws {
        let store = PostgreSQLRecordStore(database)
        try await store.commit([
            .keep(StoredRecord([1], expiry: Date(timeIntervalSinceNow: -60)), ["old"]),
            .keep(StoredRecord([1], expiry: Date(timeIntervalSinceNow: 3_600)), ["new"]),
            .keep(StoredRecord([1]), ["kept"]),
        ])
        let session = server.session(in: name)
        try await session.read { connection, limit throws(ServerError) in
            _ = try connection.run(
                [
                    Statement(
                        sql: "INSERT INTO inward_sessions VALUES ('gone', 7, clock_timestamp() - interval '8 days')"
                    )
                ],
                within: limit
            )
            try connection.prepare([.purge, .purgeAnnouncements, .purgeSessions], within: limit)
            Purging().purge(connection)
        }
        #expect(
            try await server.execute("SELECT address FROM inward_records ORDER BY address", in: name).map {
                $0.bytes(0)
            }
                == [RecordKey(["kept"]).encoded, RecordKey(["new"]).encoded]
        )
        #expect(try await server.execute("SELECT 1 FROM inward_sessions WHERE session = 'gone'", in: name).isEmpty)
    }

    @Test func storesThatFindTheSameTablesShareTheirLocks() async throws {
        let one = PostgreSQLRecordStore(database)
        try await one.commit([.keep(record("1"), ["a"])])
        try await server.execute("CREATE SCHEMA worker", in: name)
        let two = PostgreSQLRecordStore("\(database) options=-csearch_path=worker,public")
        #expect(try await two.record(for: ["a"]) == record("1"))
        guard case .claimed(let claim) = try await one.claim(["a"]), case .owned = try await two.claim(["a"]) else {
            Issue.record("The first store must own the key.")
            return
        }
        await claim.release()
    }

    @Test func leasesOfADyingProcessCanBeTakenOverWithoutItsDatabaseSession() async throws {
        let (one, two) = (PostgreSQLRecordStore(database), PostgreSQLRecordStore(database))
        try await one.commit([.keep(record("work"), ["outbox", "heads", "1"])])
        let lost = try #require(try await one.lease(under: ["outbox", "heads"], limit: 1, for: .zero).first)
        let taken = try #require(try await two.lease(under: ["outbox", "heads"], limit: 1, for: .seconds(3_600)).first)
        #expect(taken.lease.token > lost.lease.token)
        let failure = await #expect(throws: RecordStoreError.self) {
            try await one.commit([.remove(["outbox", "heads", "1"])], if: [.isLeased(lost.lease)])
        }
        #expect(failure?.reason == .conflict)
        try await two.commit([.remove(["outbox", "heads", "1"])], if: [.isLeased(taken.lease)])
    }

    @Test func everyRecordWithALongKeyCanBeLeased() async throws {
        let store = PostgreSQLRecordStore(database)
        let keys: [RecordKey] = (0..<60).map { ["j", String(repeating: "y", count: 1_100) + "\($0)"] }
        try await store.commit(keys.map { .keep(record("1"), $0) })
        for key in keys { #expect(try await store.lease(under: key, limit: 1, for: .zero).map(\.lease.key) == [key]) }
    }

    @Test func leasesOfAnyDurationAreGranted() async throws {
        let store = PostgreSQLRecordStore(database)
        try await store.commit([.keep(record("1"), ["a"])])
        let lease = try #require(
            try await store.lease(under: ["a"], limit: .max, for: .seconds(Int64.min)).first?.lease
        )
        #expect(try await store.extend(lease, for: .seconds(Int64.max)))
        #expect(try await store.lease(under: ["a"], limit: 1, for: .zero).isEmpty)
    }

    @Test func claimCanBeReleasedAfterTheStoreIsClosed() async throws {
        let store = PostgreSQLRecordStore(database)
        guard case .claimed(let claim) = try await store.claim(["a"]) else {
            Issue.record("A free key must be claimable.")
            return
        }
        store.close()
        await claim.release()
    }

    @Test func closedStoreRefusesEveryCall() async throws {
        let store = PostgreSQLRecordStore(database)
        try await store.commit([.keep(record("a"), ["a"])])
        store.close()
        let failures = [
            await #expect(throws: RecordStoreError.self) { try await store.record(for: ["a"]) },
            await #expect(throws: RecordStoreError.self) { try await store.commit([.remove(["a"])]) },
            await #expect(throws: RecordStoreError.self) { _ = try await store.claim(["a"]) },
        ]
        #expect(failures.map { $0?.reason } == [.closed, .closed, .closed])
    }

    @Test(arguments: [
        "postgresql://ada:secret@127.0.0.1:1/x?sslmode=disable", "postgresql://ada:secret@[::1/x",
        "postgresql://ada:secret/secret@host/x", "postgresql://ada:p@secret@nowhere.invalid/x",
        "postgresql://ada:secret@cd:secret@host/x", "postgresql://ada:p@secret/secret@host/x",
        "postgresql://secret:secret/x@db/shop", "user=ada password=secret nonsense=secret",
        "postgresql://ada:secret@host:port/x",
    ])
    func connectionErrorsContainNoPassword(info: String) async {
        let store = PostgreSQLRecordStore(info, timeLimit: .milliseconds(100))
        let failure = await #expect(throws: RecordStoreError.self) { try await store.record(for: ["a"]) }
        #expect(failure?.explanation.contains("secret") == false, "\(failure?.explanation ?? "")")
    }

    @Test func keysWithTheSameFirstComponentsHaveAQueueOfTheirOwn() async throws {
        let store = PostgreSQLRecordStore(database)
        try await store.commit([
            .keep(record("1"), ["a", "b", "1"]), .keep(record("2"), ["a", "b"]), .keep(record("3"), ["a", "bc", "1"]),
            .keep(record("4"), ["a"]),
        ])
        #expect(try await store.lease(under: ["a", "b"], limit: 9, for: .zero).count == 2)
        #expect(try await store.lease(under: ["a"], limit: 9, for: .zero).count == 4)
        let session = server.session(in: name)
        // With few records, other plans are cheaper.
        for setting in ["enable_seqscan", "enable_bitmapscan"] { try await session.execute("SET \(setting) = off") }
        let plan = try await session.execute(
            "EXPLAIN SELECT 1 FROM inward_records WHERE inward_queue(address) = $1::bytea ORDER BY free_since",
            .bytes([1])
        )
        #expect(
            plan.contains { $0.text(0)?.contains("Index Scan using inward_records_queue") == true },
            "\(plan.map { $0.text(0) ?? "" })"
        )
    }
}
#endif
