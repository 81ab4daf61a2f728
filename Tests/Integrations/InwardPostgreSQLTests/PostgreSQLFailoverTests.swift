#if PostgreSQL
import Foundation
import InwardCore
import InwardRepositories
import TestSupport
import Testing

@testable import InwardPostgreSQL

/// A primary and a synchronous standby, of which the standby takes over.
@Suite(.timeLimit(.minutes(5)))
struct PostgreSQLFailoverTests {
    private let primary: PostgreSQLServer
    private let standby: PostgreSQLServer
    private let name: String
    /// The connection string, with both hosts.
    private let database: String

    init() async throws {
        primary = try PostgreSQLServer(synchronousStandbys: "*")
        name = try await primary.database()
        standby = try PostgreSQLServer(following: primary)
        database = "host=\(primary.path),\(standby.path) user=inward dbname=\(name)"
        // The standby says where it is when it gets something. Otherwise, this takes ten seconds.
        let session = primary.session(in: name)
        let streaming = "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync'"
        while try await session.execute(streaming).isEmpty {
            try await session.execute("SELECT 1 FROM pg_logical_emit_message(true, '', '')")
        }
    }

    /// Returns a store that waits longer than the failover takes.
    private func store(connectionLimit: Int = 8) -> PostgreSQLRecordStore {
        PostgreSQLRecordStore(database, connectionLimit: connectionLimit, connectionTimeLimit: .seconds(30))
    }

    private func failOver() async throws {
        try await primary.stop(signal: "QUIT")
        try await standby.promote()
    }

    @Test func noConfirmedCommitIsLostOrMadeTwice() async throws {
        let store = self.store(connectionLimit: 4)
        let (before, after) = (Milestone(100), Milestone(100))
        let hasFailedOver = Flag()
        // The last four share a counter.
        let counters = (0..<8).map { RecordKey(["counters", "\(min($0, 4))"]) }
        let tallies = try await withThrowingTaskGroup(of: Tally.self) { group in
            for (task, counter) in counters.enumerated() {
                group.addTask {
                    var tally = Tally(task: task, counter: counter)
                    while !after.isReached {
                        guard await tally.increment(in: store) else { continue }
                        (hasFailedOver.value ? after : before).advance()
                    }
                    return tally
                }
            }
            await before.wait()
            try await failOver()
            hasFailedOver.raise()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for (counter, tallies) in Dictionary(grouping: tallies, by: \.counter) {
            let value = Tally.number(in: try await store.snapshot(for: counter))
            let confirmed = tallies.reduce(0) { $0 + $1.confirmed.count }
            let unknown = tallies.reduce(0) { $0 + $1.unknown }
            #expect((confirmed...(confirmed + unknown)).contains(value), "\(counter)")
        }
        let entries = Set(try await store.records(under: ["entries"]).map(\.key))
        #expect(tallies.flatMap(\.confirmed).allSatisfy(entries.contains))
        // The time limits are much longer than the failover.
        #expect(tallies.flatMap(\.failures).isEmpty)
    }

    @Test func leasesAndClaimsOutliveTheServerAndAnnouncementsGoOn() async throws {
        let (one, two) = (store(), store())
        var announcements = two.announcements(under: ["jobs"]).makeAsyncIterator()
        #expect(await announcements.next() == .anythingMayHaveChanged)
        try await one.commit(["long", "short"].map { .keep(StoredRecord([1]), ["jobs", $0]) })
        let long = try #require(try await one.lease(under: ["jobs", "long"], limit: 1, for: .seconds(3_600)).first)
        let short = try #require(try await one.lease(under: ["jobs", "short"], limit: 1, for: .zero).first)
        guard case .claimed(let claim) = try await one.claim(["claims"]) else {
            Issue.record("A free key must be claimable.")
            return
        }
        // When the connection is lost, and when there is another one.
        try await primary.stop(signal: "QUIT")
        #expect(await announcements.next() == .anythingMayHaveChanged)
        try await standby.promote()
        #expect(await announcements.next() == .anythingMayHaveChanged)

        // The long lease excludes others, and the short one is fenced as soon as somebody else has the record.
        let taken = try await two.lease(under: ["jobs"], limit: 2, for: .seconds(3_600))
        #expect(taken.map(\.lease.key) == [["jobs", "short"]])
        #expect(taken.allSatisfy { $0.lease.token > max(short.lease.token, long.lease.token) })
        let failure = await #expect(throws: RecordStoreError.self) {
            try await one.commit([.remove(["jobs", "short"])], if: [.isLeased(short.lease)])
        }
        #expect(failure?.reason == .conflict)
        try await one.commit([.remove(["jobs", "long"]), .announce(["jobs", "long"])], if: [.isLeased(long.lease)])
        #expect(await announcements.next() == .changed(["jobs", "long"]))

        // Makes the connection for claims again, if the store has not noticed yet.
        if case .claimed(let other) = try await one.claim(["other"]) { await other.release() }
        guard case .owned = try await two.claim(["claims"]) else {
            Issue.record("The first store must own the key again.")
            return
        }
        await claim.release()
    }

    @Test func commitThatTheStandbyDoesNotHaveIsNotConfirmed() async throws {
        // The store's own setting must hold on each of its connections.
        try await primary.execute("ALTER DATABASE \(name) SET synchronous_commit = off", in: "postgres")
        let store = self.store(connectionLimit: 1)
        try await store.commit([.keep(StoredRecord([0]), ["a"])])
        try await standby.stop(signal: "INT")
        let isConfirmed = Flag()
        async let commit: Void = {
            try await store.commit([.keep(StoredRecord([1]), ["a"])])
            isConfirmed.raise()
        }()
        let session = primary.session(in: name)
        // The commit waits for the standby. When it is cut off, it is made on the primary alone, and the store's question waits.
        for statement in ["COMMIT", "SELECT number FROM inward_sessions%"] {
            let waiting = "SELECT pid::bigint FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE $1"
            var pid: Int64?
            while pid == nil, !isConfirmed.value {
                pid = try await session.execute(waiting, .text(statement)).first?.integer(0)
            }
            try await session.execute("SELECT pg_terminate_backend($1::bigint::integer)", .integer(pid ?? 0))
        }
        #expect(!isConfirmed.value)
        try await primary.stop(signal: "QUIT")
        try await standby.start()
        try await standby.promote()
        try await commit
        #expect(try await self.store().record(for: ["a"]) == StoredRecord([1]))
    }

    @Test func serverThatHasBecomeAStandbyIsNotUsed() async throws {
        let store = self.store()
        try await store.commit([.keep(StoredRecord([0]), ["a"])])
        try await failOver()
        try await primary.follow(standby)
        try await primary.start()
        // The first host answers again, but only the second one accepts writes.
        try await store.commit([.keep(StoredRecord([1]), ["a"])])
        try await standby.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'",
            in: "postgres"
        )
        try await store.commit([.keep(StoredRecord([2]), ["a"])])
        #expect(try await PostgreSQLRecordStore(standby.info(name)).record(for: ["a"]) == StoredRecord([2]))
    }

    @Test func serverThatDoesNotAnswerDoesNotHideTheOthers() async throws {
        try await store().commit([.keep(StoredRecord([0]), ["a"])])
        try await primary.hang()
        try await standby.promote()
        let store = self.store()
        try await store.commit([.keep(StoredRecord([1]), ["a"])])
        #expect(try await PostgreSQLRecordStore(standby.info(name)).record(for: ["a"]) == StoredRecord([1]))
    }

    @Test func writesOnAStandbyFailAsUnavailableAndSucceedAfterItsPromotion() async throws {
        try await store().commit([.keep(StoredRecord([0]), ["a"])])
        // Whether libpq refuses the standby, as by default, or the standby the statements.
        let infos = ["read-write", "any"].map { "\(standby.info(name)) target_session_attrs=\($0)" }
        for info in infos {
            let impatient = PostgreSQLRecordStore(info, connectionTimeLimit: .milliseconds(50))
            let failure = await #expect(throws: RecordStoreError.self) {
                try await impatient.commit([.keep(StoredRecord([1]), ["a"])])
            }
            #expect(failure?.reason == .unavailable)
            #expect(failure?.explanation.contains("accepts no writes") == true, "\(failure?.explanation ?? "")")
        }
        let stores = infos.map { PostgreSQLRecordStore($0, connectionTimeLimit: .seconds(30)) }
        async let first: Void = stores[0].commit([.keep(StoredRecord([2]), ["b"])])
        async let second: Void = stores[1].commit([.keep(StoredRecord([3]), ["c"])])
        try await failOver()
        _ = try await (first, second)
        #expect(try await stores[0].records(for: [["a"], ["b"], ["c"]]).map { $0?.bytes } == [[0], [2], [3]])
    }
}

/// What a task knows about a counter that it increments with conditional commits.
private struct Tally: Sendable {
    let task: Int
    let counter: RecordKey
    /// The keys of the entries of confirmed commits. Each commit has one.
    private(set) var confirmed: [RecordKey] = []
    /// The number of commits that may have been made.
    private(set) var unknown = 0
    /// The errors other than conflicts.
    private(set) var failures: [RecordStoreError] = []
    private var last = 0

    init(task: Int, counter: RecordKey) {
        self.task = task
        self.counter = counter
    }

    static func number(in snapshot: RecordSnapshot?) -> Int {
        snapshot.flatMap { Int(String(decoding: $0.record.bytes, as: UTF8.self)) } ?? 0
    }

    /// Increments the counter once, if nobody else is faster. Returns whether the store has confirmed it.
    mutating func increment(in store: PostgreSQLRecordStore) async -> Bool {
        last += 1
        let entry: RecordKey = ["entries", "\(task)", "\(last)"]
        do throws(RecordStoreError) {
            let old = try await store.snapshot(for: counter)
            let new = StoredRecord(Array(String(Self.number(in: old) + 1).utf8))
            // The entry is new, so a commit that is made twice is a conflict, and counts once.
            try await store.commit(
                [.keep(new, counter), .keep(StoredRecord([]), entry)],
                if: [.isUnchanged(counter, since: old), .isAbsent(entry)]
            )
        } catch {
            if error.reason == .outcomeUnknown { unknown += 1 }
            if error.reason != .conflict { failures.append(error) }
            return false
        }
        confirmed.append(entry)
        return true
    }
}

/// A number of steps that tasks take together, and that one task waits for.
private final class Milestone: Sendable {
    private let limit: Int
    private let count = Counter()
    private let promise = Promise<Void>()

    init(_ limit: Int) { self.limit = limit }

    var isReached: Bool { count.value >= limit }

    func advance() {
        if count.add() == limit { promise.fulfill(()) }
    }

    func wait() async { _ = await promise.value() }
}
#endif
