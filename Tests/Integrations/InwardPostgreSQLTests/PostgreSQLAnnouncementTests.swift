#if PostgreSQL
import Foundation
import InwardRepositories
import Testing

@testable import InwardPostgreSQL

@Suite(.timeLimit(.minutes(5)))
struct PostgreSQLAnnouncementTests {
    private let server: PostgreSQLServer
    private let name: String
    private var database: String { server.info(name) }

    init() async throws {
        server = try PostgreSQLServer.shared.get()
        name = try await server.database()
    }

    /// A store that reads announcements only after notifications.
    private func notifiedStore() -> PostgreSQLRecordStore {
        PostgreSQLRecordStore(
            database,
            connectionLimit: 8,
            timeLimit: .seconds(30),
            connectionTimeLimit: .seconds(30),
            pollInterval: .seconds(86_400)
        )
    }

    /// Returns the iterator of a sequence that has begun.
    private func listening(
        to store: PostgreSQLRecordStore,
        under key: RecordKey = []
    ) async -> RecordAnnouncements.Iterator {
        var announcements = store.announcements(under: key).makeAsyncIterator()
        #expect(await announcements.next() == .anythingMayHaveChanged)
        return announcements
    }

    @Test func notificationsReachAllStoresWithoutPolls() async throws {
        let (one, two) = (notifiedStore(), notifiedStore())
        var (first, second) = (await listening(to: one), await listening(to: two, under: ["users"]))
        for number in 0..<20 {
            let (store, key) = (number % 2 == 0 ? one : two, RecordKey(["users", "\(number)"]))
            try await store.commit([.keep(StoredRecord([1]), key), .announce(key)])
            #expect(await first.next() == .changed(key))
            #expect(await second.next() == .changed(key))
        }
    }

    @Test func pollsFindWhatNobodyNotifiedOf() async throws {
        let store = PostgreSQLRecordStore(
            database,
            connectionLimit: 1,
            timeLimit: .seconds(30),
            connectionTimeLimit: .seconds(30),
            pollInterval: .milliseconds(10)
        )
        var announcements = await listening(to: store)
        try await server.execute("INSERT INTO inward_announcements (key) VALUES ('\\x6200')", in: name)
        #expect(await announcements.next() == .changed(["a"]))
    }

    @Test func commitThatBecomesVisibleLateIsAnnounced() async throws {
        let store = notifiedStore()
        var announcements = await listening(to: store)
        let holder = server.session(in: name)
        try await holder.execute("BEGIN")
        let insertion = "INSERT INTO inward_announcements (key) VALUES ($1)"
        try await holder.execute(insertion, .bytes(RecordKey(["old"]).encoded))
        for number in 0..<3 {
            try await store.commit([.announce(["new", "\(number)"])])
            #expect(await announcements.next() == .changed(["new", "\(number)"]))
        }
        try await holder.execute("COMMIT")
        try await store.commit([.announce(["last"])])
        #expect(await announcements.next() == .changed(["old"]))
        #expect(await announcements.next() == .changed(["last"]))
    }

    @Test func lostConnectionIsReportedAndMadeAgain() async throws {
        let (one, two) = (notifiedStore(), notifiedStore())
        var announcements = await listening(to: one)
        let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'"
        for number in 0..<3 {
            try await server.execute("ALTER DATABASE \(name) ALLOW_CONNECTIONS false", in: "postgres")
            try await server.execute(cut, in: "postgres")
            #expect(await announcements.next() == .anythingMayHaveChanged)
            try await server.execute("ALTER DATABASE \(name) ALLOW_CONNECTIONS true", in: "postgres")
            #expect(await announcements.next() == .anythingMayHaveChanged)
            try await two.commit([.announce(["\(number)"])])
            #expect(await announcements.next() == .changed(["\(number)"]))
        }
    }

    @Test func everyCommitIsAnnounced() async throws {
        let (one, two) = (notifiedStore(), notifiedStore())
        var announcements = await listening(to: two)
        let (tasks, commits) = (8, 125)
        async let writing: Void = withThrowingTaskGroup { group in
            for task in 0..<tasks {
                group.addTask {
                    for number in 0..<commits {
                        let key: RecordKey = ["\(task)", "\(number)"]
                        try await one.commit([.keep(StoredRecord([1]), [key.components[0]]), .announce(key)])
                    }
                }
            }
            try await group.waitForAll()
        }
        var missing = Set((0..<tasks).flatMap { task in (0..<commits).map { RecordKey(["\(task)", "\($0)"]) } })
        var last = [Int](repeating: -1, count: tasks)
        while !missing.isEmpty, let announcement = await announcements.next() {
            guard case .changed(let key) = announcement else { break }
            missing.remove(key)
            if let task = Int(key.components[0]), let number = Int(key.components[1]) {
                #expect(number > last[task])
                last[task] = number
            }
        }
        try await writing
        #expect(missing.isEmpty)
    }

    @Test func tooManyRowsAreSummedUp() async throws {
        let store = notifiedStore()
        var announcements = await listening(to: store)
        let rows = """
            INSERT INTO inward_announcements (key) SELECT '\\x6200' FROM generate_series(1, \(AnnouncementCursor.rowLimit))
            """
        try await server.execute(rows, in: name)
        try await server.execute("NOTIFY inward_announcements", in: name)
        #expect(await announcements.next() == .anythingMayHaveChanged)
        try await store.commit([.announce(["b"])])
        // A transaction of another test that has not ended makes the store read the rows again.
        let next = await announcements.next()
        #expect(next == .changed(["b"]) || next == .anythingMayHaveChanged)
    }

    @Test func connectionExistsOnlyWhileSomebodyListens() async throws {
        let store = notifiedStore()
        let listeners = """
            SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'SELECT oldest%'
            """
        try await store.commit([.announce(["a"])])
        #expect(try await server.execute(listeners, in: name).isEmpty)
        for _ in 0..<2 {
            do {
                let one = await listening(to: store)
                let two = await listening(to: store)
                #expect(try await server.execute(listeners, in: name).count == 1)
                withExtendedLifetime((one, two)) {}
            }
            while try await !server.execute(listeners, in: name).isEmpty {}
        }
        var announcements = store.announcements(under: [])
            .makeAsyncIterator()
        store.close()
        while await announcements.next() != nil {}
    }

    @Test func listenerWaitsForAServerThatIsNotThere() async throws {
        let store = PostgreSQLRecordStore("postgresql://127.0.0.1:1/x?sslmode=disable")
        async let end: RecordAnnouncement? = {
            var announcements = store.announcements(under: []).makeAsyncIterator()
            return await announcements.next()
        }()
        await Task.yield()
        store.close()
        #expect(await end == nil)
    }

    @Test func tablesOfAnOlderVersionAreChanged() async throws {
        try await PostgreSQLRecordStore(database).commit([.keep(StoredRecord([1]), ["a"])])
        try await server.execute("DROP TABLE inward_announcements", in: name)
        try await server.execute("UPDATE inward_schema SET version = 1", in: name)
        let store = notifiedStore()
        var announcements = await listening(to: store)
        try await store.commit([.announce(["a"])])
        #expect(await announcements.next() == .changed(["a"]))
        #expect(try await store.record(for: ["a"]) == StoredRecord([1]))
        #expect(
            try await server.execute("SELECT version::bigint FROM inward_schema", in: name).map { $0.integer(0) } == [2]
        )
    }

    @Test func oldAnnouncementsAreRemoved() async throws {
        let store = PostgreSQLRecordStore(database)
        try await store.commit([.announce(["old"]), .announce(["new"])])
        let session = server.session(in: name)
        let aged = "UPDATE inward_announcements SET time = time - interval '6 minutes' WHERE key = $1"
        try await session.execute(aged, .bytes(RecordKey(["old"]).encoded))
        try await session.read { connection, limit throws(ServerError) in
            try connection.prepare([.purge, .purgeAnnouncements, .purgeSessions], within: limit)
            Purging().purge(connection)
        }
        #expect(
            try await session.execute("SELECT key FROM inward_announcements").map { $0.bytes(0) }
                == [RecordKey(["new"]).encoded]
        )
    }

    @Test func refusedCommitStoresNoAnnouncement() async throws {
        let store = PostgreSQLRecordStore(database)
        try await store.commit([.keep(StoredRecord([1]), ["a"])])
        let failure = await #expect(throws: RecordStoreError.self) {
            try await store.commit([.announce(["a"])], if: [.isAbsent(["a"])])
        }
        #expect(failure?.reason == .conflict)
        #expect(try await server.execute("SELECT 1 FROM inward_announcements", in: name).isEmpty)
    }
}
#endif
