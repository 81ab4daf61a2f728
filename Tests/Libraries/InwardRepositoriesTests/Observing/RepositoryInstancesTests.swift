import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@testable import InwardRepositories

/// Two instances of a service whose repositories share a store.
@Suite(.timeLimit(.minutes(5)))
struct RepositoryInstancesTests {
    private let scheduler = DeterministicScheduler(seed: 7)
    private let source = VersionedSource()
    private let store = InMemoryRecordStore(now: { OutboxStage.time })

    private func peers(_ number: UInt64) -> RepositoryPeers {
        RepositoryPeers(sharing: store, generator: SplitMix64(seed: number))
    }

    private func repository(of user: String = "ada", _ peers: RepositoryPeers) throws -> Repository<Remark> {
        let place = RepositoryStore(store, partition: [user], peers: peers, now: { OutboxStage.time }) {
            Issue.record($0)
        }
        return try .versioned(source, store: place, timer: scheduler.timer)
    }

    /// Runs work with a repository on each of two instances, while the second one follows the first one.
    private func run(
        _ body: @escaping @Sendable (Repository<Remark>, Repository<Remark>) async throws -> Void
    ) async throws {
        let (first, second) = (peers(1), peers(2))
        let (one, other) = (try repository(first), try repository(second))
        try await scheduler.run { [self] in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for peers in [first, second] { group.addTask { await peers.followAnnouncements() } }
                try await wait()
                try await body(one, other)
                group.cancelAll()
            }
        }
    }

    /// Lets the announcements arrive, and time pass, so that later events are newer.
    private func wait() async throws { try await scheduler.timer.sleep(for: .seconds(1)) }

    @Test func writesAreSeenOnTheOtherInstance() async throws {
        try await run { [self] one, other in
            for repository in [one, other] {
                _ = try await repository.entities()
                _ = try await repository.entity(2, .upstreamOnly)
            }
            try await one.update(2) { $0.text = "new" }
            try await wait()
            #expect(try await other.entity(2).value.text == "new")
            #expect(try await other.entities().value.map(\.text) == ["1", "new", "3"])
            let created = try await one.create(RemarkDTO(Remark(id: 0, author: 7, text: "4"))).value.id
            try await wait()
            #expect(try await other.entities().value.map(\.text) == ["1", "new", "3", "4"])
            try await other.delete(created)
            try await wait()
            #expect(await one.failure(created) == .notFound)
            #expect(try await one.entities().value.map(\.text) == ["1", "new", "3"])
        }
    }

    @Test func instanceKeepsWhatItHasWritten() async throws {
        try await run { [self] one, _ in
            _ = try await one.entities()
            try await one.update(2) { $0.text = "new" }
            try await wait()
            let count = source.requests.count
            #expect(try await one.entities().origin == .memory)
            #expect(try await one.entity(2).origin == .memory)
            #expect(source.requests.count == count)
        }
    }

    @Test func writeWithAnUnknownOutcomeIsReadAgainOnTheOtherInstance() async throws {
        try await run { [self] one, other in
            for repository in [one, other] { _ = try await repository.entity(2) }
            source.meet(.answerLost)
            await #expect(throws: WriteError<Remark>.self) { try await one.update(2) { $0.text = "new" } }
            try await wait()
            #expect(try await other.entity(2).value.text == "new")
        }
    }

    @Test func refusedWriteChangesNothingOnTheOtherInstance() async throws {
        try await run { [self] one, other in
            for repository in [one, other] { _ = try await repository.entity(2) }
            source.meet(.refused(422))
            await #expect(throws: WriteError<Remark>.self) { try await one.update(2) { $0.text = "new" } }
            try await wait()
            #expect(try await other.entity(2).origin == .memory)
        }
    }

    @Test(arguments: [[], ["remarks"], ["remarks", "2"], ["users", "7"]] as [RecordKey])
    func invalidationReachesTheOtherInstance(key: RecordKey) async throws {
        try await run { [self] one, other in
            _ = try await other.entities()
            source.put(Remark(id: 2, author: 7, text: "new"))
            one.invalidate(under: key)
            await one.flush()
            try await wait()
            #expect(try await other.entity(2).value.text == "new")
            #expect(try await other.entities().value.map(\.text) == ["1", "new", "3"])
        }
    }

    @Test func otherUsersKeepTheirCaches() async throws {
        let (first, second) = (peers(1), peers(2))
        let (one, other) = (try repository(first), try repository(of: "grace", second))
        try await scheduler.run { [self] in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await second.followAnnouncements() }
                try await wait()
                _ = try await other.entity(2)
                try await one.update(2) { $0.text = "new" }
                try await wait()
                #expect(try await other.entity(2).origin == .memory)
                group.cancelAll()
            }
        }
    }

    @Test func observersAreWokenByTheOtherInstance() async throws {
        try await run { one, other in
            var readings = other.changes(of: 2).makeAsyncIterator()
            _ = try await readings.next()
            try await one.update(2) { $0.text = "new" }
            #expect(try await readings.next()?.value?.text == "new")
        }
    }

    /// The first announcement says that earlier ones may have been lost.
    @Test func lostAnnouncementsEmptyTheMemoryButNotTheStore() async throws {
        let (first, second) = (peers(1), peers(2))
        let (one, other) = (try repository(first), try repository(second))
        try await scheduler.run { [self] in
            _ = try await other.entity(2)
            await other.flush()
            try await one.update(2) { $0.text = "new" }
            _ = try await one.entity(2, .upstreamOnly)
            await one.flush()
            #expect(try await other.entity(2).value.text == "2")
            let count = source.requests.count
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await second.followAnnouncements() }
                try await wait()
                let reading = try await other.entity(2)
                #expect(reading.value.text == "new" && reading.origin == .store)
                group.cancelAll()
            }
            #expect(source.requests.count == count)
        }
    }

    @Test func oneInstanceAnnouncesNothing() async throws {
        let place = RepositoryStore(store, partition: ["ada"], peers: RepositoryPeers(), now: { OutboxStage.time }) {
            Issue.record($0)
        }
        let repository = try Repository.versioned(source, store: place, timer: scheduler.timer)
        try await scheduler.run { [self] in
            var announcements = store.announcements(under: []).makeAsyncIterator()
            #expect(await announcements.next() == .anythingMayHaveChanged)
            await RepositoryPeers().followAnnouncements()
            try await repository.update(2) { $0.text = "new" }
            try await store.commit([.announce(["end"])])
            #expect(await announcements.next() == .changed(["end"]))
        }
    }
}
