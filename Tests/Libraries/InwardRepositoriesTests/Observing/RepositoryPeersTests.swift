import InwardCore
import InwardFetching
import InwardTesting
import Testing

@testable import InwardRepositories

/// Two sessions of a user, whose repositories share a partition of a store.
@Suite(.timeLimit(.minutes(5)))
struct RepositoryPeersTests {
    private let scheduler = DeterministicScheduler(seed: 7)
    private let source = VersionedSource()
    private let store = RecordingRecordStore(InMemoryRecordStore(now: { OutboxStage.time }))
    private let peers = RepositoryPeers()
    private let anew = Remark(id: 2, author: 7, text: "anew")

    private func repository(of user: String = "ada", timer: TimerService? = nil) throws -> Repository<Remark> {
        try .versioned(source, store: place(of: user), timer: timer ?? scheduler.timer)
    }

    private func place(of user: String = "ada") -> RepositoryStore {
        RepositoryStore(store, partition: [user], peers: peers) {
            OutboxStage.time
        } reportFailure: { _ in
        }
    }

    /// Lets time pass, so that later events are newer.
    private func wait() async throws { try await scheduler.timer.sleep(for: .seconds(1)) }

    @Test func fetchOfAPeerIsSeen() async throws {
        let (one, other) = (try repository(), try repository())
        try await scheduler.run { [self] in
            var entity = one.changes(of: 2).makeAsyncIterator()
            var list = one.changes(in: .all).makeAsyncIterator()
            _ = try await (entity.next(), list.next())
            try await wait()
            source.put(anew)
            _ = try await other.entity(2, .upstreamOnly)
            let count = source.requests.count
            #expect(try await entity.next()?.value == anew)
            #expect(try await list.next()?.value.map(\.text) == ["1", "anew", "3"])
            try await wait()
            source.remove(2)
            source.put(Remark(id: 4, author: 7, text: "4"))
            _ = try await other.entities(.all, .upstreamOnly)
            #expect(try await list.next()?.value.map(\.text) == ["1", "3", "4"])
            _ = await other.failure(2, .upstreamOnly)
            #expect(try await entity.next()?.value == nil)
            #expect(source.requests.count == count + 2)
        }
    }

    @Test func entityInAListFetchedByAPeerIsSeen() async throws {
        let (one, other) = (try repository(), try repository())
        try await scheduler.run { [self] in
            var entity = one.changes(of: 2).makeAsyncIterator()
            _ = try await entity.next()
            try await wait()
            source.put(anew)
            _ = try await other.entities(.author(7))
            #expect(try await entity.next()?.value == anew)
            #expect(one.memory.entities.count == 1)
        }
    }

    @Test func writeOfAPeerWithoutAnOutboxIsSeen() async throws {
        let (one, other) = (try repository(), try repository())
        try await scheduler.run { [self] in
            var entity = one.changes(of: 2).makeAsyncIterator()
            var list = one.changes(in: .all).makeAsyncIterator()
            _ = try await (entity.next(), list.next())
            let count = source.requests.count
            try await other.update(2) { $0.text = "new" }
            #expect(try await entity.next()?.value?.text == "new")
            #expect(try await list.next()?.value.map(\.text) == ["1", "new", "3"])
            try await other.delete(2)
            #expect(try await entity.next()?.value == nil)
            #expect(try await list.next()?.value.map(\.text) == ["1", "3"])
            #expect(source.requests.count <= count + 3)
            source.put(Remark(id: 1, author: 7, text: "uno"))
            other.invalidateAll()
            #expect(try await list.next()?.value.map(\.text) == ["uno", "3"])
        }
    }

    /// Returns the stamp of a request that `other` made before a write that only `one` knows about.
    private func stamp(_ other: Repository<Remark>) -> FetchStamp {
        FetchStamp(
            tick: other.memory.begin(),
            time: scheduler.timer.now,
            age: .zero,
            byteCount: 1,
            isFromStore: false
        )
    }

    @Test func responseFromBeforeAChangeIsNotAdopted() async throws {
        let (one, other) = (try repository(), try repository())
        try await scheduler.run { [self] in
            _ = try await (one.entities(), other.entities())
            try await wait()
            let stamp = stamp(other)
            try await wait()
            // Like a write that an outbox has delivered but not yet reported to the other repository.
            let created = Remark(id: 4, author: 7, text: "created")
            one.cache.change(everywhere: false) { memory, _ in
                memory.write(created, time: scheduler.timer.now, byteCount: 1)
            }
            _ = other.cache.keep(EntityList(source.remarks, rejected: []), of: .all, stamp)
            other.cache.keepAbsence(of: 4, stamp)
            #expect(try await one.entities().value.map(\.id) == [1, 2, 3, 4])
            #expect(try await one.entity(4, .cacheOnly).value == created)
        }
    }

    @Test func outdatedAbsenceIsNotSharedWithPeers() async throws {
        let (one, other) = (try repository(), try repository())
        try await scheduler.run { [self] in
            _ = try await (one.entity(2), other.entity(2))
            try await wait()
            let stamp = stamp(other)
            try await wait()
            other.cache.change(everywhere: false) { memory, _ in
                memory.write(anew, time: scheduler.timer.now, byteCount: 1)
            }
            other.cache.keepAbsence(of: 2, stamp)
            #expect(try await other.entity(2, .cacheOnly).value == anew)
            #expect(try await one.entity(2, .cacheOnly).value.text == "2")
        }
    }

    @Test func writeOfAPeerMakesAFetchInFlightOutdated() async throws {
        let (begun, isReleased) = (Rendezvous(of: 2), Promise<Void>())
        let source = RemarkSource.holdingTheFirstAnswer(begun: begun, until: isReleased)
        let timer = TimerService(ManualClock())
        let one = try Repository<Remark>.remarks(source, timer, store: place())
        let other = try Repository<Remark>.remarks(source, timer, store: place())
        async let early = one.entities()
        await begun.arrive()
        let new = Remark(id: 2, author: 7, text: "new")
        _ = try await other.send(new)
        // New readers do not join the request from before the write.
        #expect(try await one.entities().value.contains(new))
        isReleased.fulfill(())
        // The caller gets its response, which is not cached.
        #expect(try await early.value.map(\.text) == ["one", "two", "three"])
        #expect(try await one.entities().value.contains(new))
        #expect(try await one.entity(2).value == new)
        #expect(source.requests.count == 3)
    }

    @Test func peersApplyChangesInTheSameOrder() async throws {
        let (repositories, log) = ([try repository(), try repository()], WorkLog())
        await withTaskGroup { group in
            for (number, repository) in repositories.enumerated() {
                group.addTask {
                    for _ in 0..<20_000 { repository.cache.change(everywhere: true) { _, _ in log.note("\(number)") } }
                }
            }
        }
        let changes = log.all
        #expect(changes.count == 80_000)
        #expect(stride(from: 0, to: changes.count, by: 2).allSatisfy { changes[$0] == changes[$0 + 1] })
    }

    @Test func adoptedListHasItsValidatorAndItsEntitiesHaveNone() async throws {
        let (one, other, third) = (try repository(), try repository(), try repository())
        try await scheduler.run { [self] in
            _ = try await (one.entities(), third.entity(2))
            try await wait()
            var stamp = stamp(other)
            stamp.validator = Validator(text: #""list""#)
            _ = other.cache.keep(EntityList([anew], rejected: []), of: .all, stamp)
            #expect(one.memory.validated(.all)?.validator == stamp.validator)
            for repository in [one, other, third] {
                #expect(repository.memory.entity(2)?.value == anew)
                #expect(repository.memory.entity(2)?.validator == nil)
            }
        }
    }

    @Test func observedValueIsAdoptedEvenIfNotCached() async throws {
        let (one, other) = (try repository(), try repository())
        try await scheduler.run { [self] in
            var entity = one.changes(of: 2).makeAsyncIterator()
            _ = try await entity.next()
            one.invalidateAll()
            try await wait()
            source.put(anew)
            _ = try await other.entity(2)
            var count = source.requests.count
            #expect(try await entity.next()?.value == anew)
            #expect(source.requests.count == count)

            var list = one.changes(in: .author(7)).makeAsyncIterator()
            _ = try await list.next()
            one.invalidateAll()
            #expect(one.memory.entities.count == 0)
            try await wait()
            source.put(Remark(id: 4, author: 7, text: "4"))
            _ = try await other.entities(.author(7))
            count = source.requests.count
            #expect(try await list.next()?.value.map(\.text) == ["1", "anew", "3", "4"])
            #expect(source.requests.count == count)
        }
    }

    @Test func valueThatAPeerDoesNotUseIsNotCachedThere() async throws {
        let (one, other) = (try repository(), try repository())
        try await scheduler.run {
            _ = try await other.entities()
            #expect(one.memory.entities.count == 0)
        }
    }

    @Test func adoptedValueIsStoredOnce() async throws {
        let (one, other) = (try repository(), try repository())
        try await scheduler.run { [self] in
            _ = try await one.entity(2)
            try await wait()
            source.put(anew)
            _ = try await other.entity(2, .upstreamOnly)
            await one.flush()
            await other.flush()
            #expect(try await one.entity(2).value == anew && store.commits.count == 2)
        }
    }

    @Test func otherPartitionsAndOtherClocksAreNotUpdated() async throws {
        let one = try repository()
        let others = [try repository(of: "bob"), try repository(timer: TimerService(ManualClock()))]
        try await scheduler.run { [self] in
            for other in others { _ = try await other.entity(2) }
            try await wait()
            source.put(anew)
            _ = try await one.entity(2, .upstreamOnly)
            for other in others { #expect(try await other.entity(2, .cacheOnly).value.text == "2") }
        }
    }

    @Test func repositoryLeavesWhenClosedOrReleased() async throws {
        var one: Repository<Remark>? = try repository()
        let other = try repository()
        #expect(peers.count == 2 && one != nil)
        one = nil
        #expect(peers.count == 1)
        await other.close()
        #expect(peers.count == 0)
    }
}
