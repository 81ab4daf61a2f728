import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing
import Thoroughness

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Observing writes that go through an outbox.
@Suite(.timeLimit(.minutes(5)))
struct RepositoryObservingOutboxTests {
    private let stage = OutboxStage()
    private let source = VersionedSource()
    private let store = InMemoryRecordStore(now: { OutboxStage.time })

    private var place: RepositoryStore {
        RepositoryStore(store, partition: ["kept"]) {
            OutboxStage.time
        } reportFailure: { _ in
        }
    }

    /// Runs work with the repositories of two sessions of one user, which share a store and an outbox, and closes them.
    private func run(
        _ editing: Editing<Remark> = Editing(.put),
        _ work: @escaping @Sendable (Repository<Remark>, Repository<Remark>, Outbox) async throws -> Void
    ) async throws {
        let outbox = try stage.outbox(source, store: store)
        let one = try Repository.versioned(source, editing, store: place, outbox: outbox, timer: stage.timer)
        let other = try Repository.versioned(source, editing, store: place, outbox: outbox, timer: stage.timer)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [one.handler])
            let member = try await outbox.join(handlers: [other.handler])
            try await work(one, other, outbox)
            await outbox.close()
            outbox.leave(member)
            await one.close()
            await other.close()
        }
    }

    /// Brings the upstream back, and waits until every deliverable write is delivered.
    private func deliver(_ outbox: Outbox, _ fates: VersionedSource.Fate...) async {
        for fate in fates { source.meet(fate) }
        source.goOffline(false)
        outbox.retryNow()
        await outbox.drain()
    }

    private func settle() async throws { try await stage.timer.sleep(for: .milliseconds(1)) }

    @Test(arguments: [false, true])
    func updateIsSeenWhenAcceptedAndWhenSettled(isOfAnotherSession: Bool) async throws {
        try await run { [self] one, other, outbox in
            let observed = isOfAnotherSession ? other : one
            var entity = observed.changes(of: 2).makeAsyncIterator()
            var list = observed.changes(in: .all).makeAsyncIterator()
            #expect(try await entity.next()?.value?.text == "2")
            #expect(try await list.next()?.value.map(\.text) == ["1", "2", "3"])
            source.goOffline()
            try await one.update(2) { $0.text = "new" }
            let new = Remark(id: 2, author: 7, text: "new")
            #expect(try await entity.next() == Reading(new, origin: .memory, isPending: true))
            let pending = try await list.next()
            #expect(pending?.isPending == true && pending?.value.map(\.text) == ["1", "new", "3"])
            await deliver(outbox)
            #expect(try await entity.next() == Reading(new, origin: .memory))
            let settled = try await list.next()
            #expect(settled?.isPending == false && settled?.value.map(\.text) == ["1", "new", "3"])
        }
    }

    @Test(arguments: [false, true]) func secondPendingUpdateIsSeen(isOfAnotherSession: Bool) async throws {
        try await run { [self] one, other, outbox in
            let observed = isOfAnotherSession ? other : one
            var entity = observed.changes(of: 2).makeAsyncIterator()
            var list = observed.changes(in: .all).makeAsyncIterator()
            _ = try await (entity.next(), list.next())
            source.goOffline()
            for text in ["new", "newer", "newest"] {
                try await one.update(2) { $0.text = text }
                let new = Remark(id: 2, author: 7, text: text)
                #expect(try await entity.next() == Reading(new, origin: .memory, isPending: true))
                #expect(try await list.next()?.value.map(\.text) == ["1", text, "3"])
            }
            await deliver(outbox)
            #expect(try await entity.next()?.isPending == false)
        }
    }

    @Test(arguments: [false, true]) func refusedUpdateRestoresThePreviousVersion(isOfAnotherSession: Bool) async throws
    {
        try await run { [self] one, other, outbox in
            let observed = isOfAnotherSession ? other : one
            var entity = observed.changes(of: 2).makeAsyncIterator()
            var list = observed.changes(in: .all).makeAsyncIterator()
            _ = try await (entity.next(), list.next())
            source.goOffline()
            try await one.update(2) { $0.text = "bad" }
            #expect(try await entity.next()?.value?.text == "bad")
            #expect(try await list.next()?.value.map(\.text) == ["1", "bad", "3"])
            await deliver(outbox, .refused(422))
            let (back, backInList) = try await (entity.next(), list.next())
            #expect(back?.value?.text == "2" && back?.isPending == false)
            #expect(backInList?.value.map(\.text) == ["1", "2", "3"] && backInList?.isPending == false)
        }
    }

    @Test(arguments: [false, true])
    func createdEntityIsFollowedToItsUpstreamIdentifier(isOfAnotherSession: Bool) async throws {
        try await run { [self] one, other, outbox in
            let observed = isOfAnotherSession ? other : one
            var list = observed.changes(in: .all).makeAsyncIterator()
            _ = try await list.next()
            source.goOffline()
            let pendingID = try await one.create(RemarkDTO(Remark(id: 0, author: 7, text: "draft"))).value.id
            let pending = try await list.next()
            #expect(pending?.value.last?.id == pendingID && pending?.isPending == true && pendingID < 0)
            var entity = observed.changes(of: pendingID).makeAsyncIterator()
            #expect(try await entity.next()?.isPending == true)
            await deliver(outbox)
            #expect(try await entity.next() == Reading(Remark(id: 4, author: 7, text: "draft"), origin: .memory))
            #expect(try await list.next()?.value.last?.id == 4)
            try await one.update(4) { $0.text = "edited" }
            await outbox.drain()
            #expect(try await entity.next()?.value?.text == "edited")
        }
    }

    @Test func creationThatKeepsItsIdentifierIsNotSeenAsRefused() async throws {
        let outbox = try stage.outbox(source, store: store)
        let remarks = try Repository.versioned(
            source,
            keepsDraftIDs: true,
            store: place,
            outbox: outbox,
            timer: stage.timer
        )
        try await stage.scheduler.run { [self] in
            try await outbox.open(handlers: [remarks.handler])
            source.goOffline()
            let draft = Remark(id: 4, author: 7, text: "draft")
            #expect(try await remarks.create(RemarkDTO(draft)).value == draft)
            var entity = remarks.changes(of: 4).makeAsyncIterator()
            #expect(try await entity.next()?.isPending == true)
            await deliver(outbox)
            #expect(try await entity.next() == Reading(draft, origin: .memory))
            try await remarks.update(4) { $0.text = "edited" }
            #expect(try await entity.next()?.value?.text == "edited")
            await outbox.close()
            await remarks.close()
        }
    }

    @Test func refusedCreationDisappearsWithoutARequest() async throws {
        try await run { [self] one, _, outbox in
            var list = one.changes(in: .all).makeAsyncIterator()
            _ = try await list.next()
            source.goOffline()
            let pendingID = try await one.create(RemarkDTO(Remark(id: 0, author: 7, text: "draft"))).value.id
            var entity = one.changes(of: pendingID).makeAsyncIterator()
            _ = try await (entity.next(), list.next())
            await deliver(outbox, .refused(422))
            let count = source.requests.count
            #expect(try await entity.next() == Reading(nil, origin: .memory))
            #expect(try await list.next()?.value.map(\.id) == [1, 2, 3])
            #expect(source.requests.count == count)
        }
    }

    @Test func deletionHidesTheEntityUntilItIsRefused() async throws {
        try await run { [self] one, _, outbox in
            var entity = one.changes(of: 2).makeAsyncIterator()
            var list = one.changes(in: .all).makeAsyncIterator()
            _ = try await (entity.next(), list.next())
            source.goOffline()
            try await one.delete(2)
            #expect(try await entity.next() == Reading(nil, origin: .memory, isPending: true))
            #expect(try await list.next()?.value.map(\.id) == [1, 3])
            await deliver(outbox, .refused(403), .refused(422))
            #expect(try await entity.next()?.value?.text == "2")
            #expect(try await list.next()?.value.map(\.id) == [1, 2, 3])
            source.goOffline()
            try await one.delete(2)
            #expect(try await entity.next()?.isPending == true)
            await deliver(outbox)
            #expect(try await entity.next() == Reading(nil, origin: .memory))
        }
    }

    @Test func conflictShowsTheUpstreamsVersion() async throws {
        try await run { [self] one, _, outbox in
            _ = try await one.entity(2, .upstreamOnly)
            var entity = one.changes(of: 2).makeAsyncIterator()
            _ = try await entity.next()
            source.put(Remark(id: 2, author: 7, text: "theirs"))
            try await one.update(2) { $0.text = "mine" }
            await outbox.drain()
            #expect(try await entity.next()?.value?.text == "theirs")
        }
    }

    @Test func writesOfAnEarlierProcessAreSeenWhenTheOutboxOpens() async throws {
        try await run { [source] one, _, _ in
            _ = try await one.entity(2)
            source.goOffline()
            try await one.update(2) { $0.text = "new" }
        }
        let outbox = try stage.outbox(source, store: store, keySeed: 2)
        let next = try Repository.versioned(source, store: place, outbox: outbox, timer: stage.timer)
        try await stage.scheduler.run {
            var entity = next.changes(of: 2).makeAsyncIterator()
            #expect(try await entity.next()?.value?.text == "2")
            try await outbox.open(handlers: [next.handler])
            let pending = try await entity.next()
            #expect(pending?.value?.text == "new" && pending?.isPending == true)
            await outbox.close()
            await next.close()
        }
    }

    /// The merged update is sent again and is lost on the way.
    @Test func mergedUpdateIsSeenWhilePending() async throws {
        let merge = ConflictRule<Remark>.merge {
            Remark(id: 2, author: 7, text: "\($0.mine?.text ?? "") and \($0.theirs?.text ?? "")")
        }
        try await run(Editing(.put, onConflict: merge)) { [self] one, _, outbox in
            _ = try await one.entity(2, .upstreamOnly)
            var entity = one.changes(of: 2).makeAsyncIterator()
            _ = try await entity.next()
            source.put(Remark(id: 2, author: 7, text: "theirs"))
            source.meet(.answered, .lost)
            try await one.update(2) { $0.text = "mine" }
            #expect(try await entity.next()?.value?.text == "mine")
            let merged = try await entity.next()
            #expect(merged?.value?.text == "mine and theirs" && merged?.isPending == true)
            await outbox.drain()
            #expect(try await entity.next() == Reading(try #require(merged?.value), origin: .memory))
        }
    }

    /// A seed determines the order of the changes and reads.
    @Test(arguments: Thoroughness.sample([UInt64](0..<50), every: 5))
    func lastReadingIsTheCurrentValue(seed: UInt64) async throws {
        let stage = OutboxStage(seed: seed)
        let outbox = try stage.outbox(source, store: store)
        let repository = try Repository.versioned(source, store: place, outbox: outbox, timer: stage.timer)
        let (ones, lists) = (ReadingLog<Remark?>(), ReadingLog<[Remark]>())
        try await stage.scheduler.run { [source] in
            try await outbox.open(handlers: [repository.handler])
            try await withThrowingTaskGroup { group in
                group.addTask { await ones.observe(repository.changes(of: 2)) }
                group.addTask { await lists.observe(repository.changes(in: .all)) }
                try await withThrowingTaskGroup(of: Void.self) { writers in
                    for number in 0..<5 {
                        writers.addTask { _ = try await repository.update(2) { $0.text += "\(number)" } }
                        writers.addTask { _ = try await repository.entity(2, .upstreamOnly) }
                        writers.addTask { repository.invalidate(3) }
                    }
                    try await writers.waitForAll()
                }
                await outbox.drain()
                try await stage.timer.sleep(for: .milliseconds(1))
                #expect(ones.readings.last?.value == source.remark(2) && ones.readings.last?.isPending == false)
                #expect(lists.readings.last?.value == source.remarks && lists.readings.last?.isPending == false)
                group.cancelAll()
            }
            await outbox.close()
            await repository.close()
        }
    }
}
