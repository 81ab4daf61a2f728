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

/// A repository whose updates and deletions go through an outbox.
@Suite(.timeLimit(.minutes(5)))
struct RepositoryEditingOutboxTests {
    let stage = OutboxStage()
    let source = VersionedSource()
    private let store = InMemoryRecordStore(now: { OutboxStage.time })

    private var place: RepositoryStore {
        RepositoryStore(store, partition: ["kept"]) {
            OutboxStage.time
        } reportFailure: { _ in
        }
    }

    /// Runs a process that opens an outbox and a repository over the store, and closes them at the end.
    func run(
        _ editing: Editing<Remark> = Editing(.put),
        keySeed: UInt64 = 1,
        memory: MemoryLimit = MemoryLimit(),
        _ body: @escaping @Sendable (Repository<Remark>, Outbox) async throws -> Void
    ) async throws {
        let outbox = try stage.outbox(source, store: store, keySeed: keySeed)
        let repository = try Repository.versioned(
            source,
            editing,
            memory: memory,
            store: place,
            outbox: outbox,
            timer: stage.timer
        )
        try await stage.scheduler.run {
            try await outbox.open(handlers: [repository.handler])
            try await body(repository, outbox)
            await repository.close()
            await outbox.close()
        }
    }

    /// Brings the upstream back, and waits until every deliverable write is delivered.
    func deliver(_ outbox: Outbox) async {
        source.goOffline(false)
        outbox.retryNow()
        await outbox.drain()
    }

    private func texts(_ repository: Repository<Remark>) async throws -> [String] {
        try await repository.entities().value.map(\.text)
    }

    // MARK: Pending

    @Test(arguments: [Editing<Remark>.Update.put, .patch])
    func updateIsPendingUntilDelivered(update: Editing<Remark>.Update) async throws {
        try await run(Editing(update)) { [self] repository, outbox in
            _ = try await repository.entities()
            _ = try await repository.entity(2, .upstreamOnly)
            source.goOffline()
            let reading = try await repository.update(2) { $0.text = "new" }
            #expect(reading == Reading(Remark(id: 2, author: 7, text: "new"), origin: .memory, isPending: true))
            let one = try await repository.entity(2)
            #expect(one.isPending && one.value.text == "new")
            let list = try await repository.entities()
            #expect(list.isPending && list.value.map(\.text) == ["1", "new", "3"])
            #expect(try await !repository.entity(1).isPending)
            #expect(source.remark(2)?.text == "2")

            await deliver(outbox)
            #expect(source.writes == [#"\#(update == .put ? "PUT" : "PATCH") 2 "v1""#])
            let count = source.requests.count
            #expect(try await repository.entity(2) == Reading(Remark(id: 2, author: 7, text: "new"), origin: .memory))
            #expect(try await texts(repository) == ["1", "new", "3"])
            #expect(source.requests.count == count && repository.pending.isEmpty)
        }
    }

    /// The update returns the accepted entity, without another read.
    @Test(arguments: [Editing<Remark>.Update.put, .patch])
    func updateIsPendingWithoutMemoryToo(update: Editing<Remark>.Update) async throws {
        try await run(Editing(update), memory: .nothing) { repository, _ in
            let reading = try await repository.update(2) { $0.text = "new" }
            #expect(reading == Reading(Remark(id: 2, author: 7, text: "new"), origin: .memory, isPending: true))
        }
    }

    @Test func deletionNamesTheVersionThatAnEarlierProcessRead() async throws {
        try await run { repository, _ in _ = try await repository.entity(2, .upstreamOnly) }
        try await run(keySeed: 2) { repository, outbox in
            try await repository.delete(2)
            await outbox.drain()
        }
        #expect(source.writes == [#"DELETE 2 "v1""#])
    }

    @Test func refusedUpdateIsRolledBackAndBecomesADeadLetter() async throws {
        try await run { [self] repository, outbox in
            _ = try await repository.entity(2)
            source.goOffline()
            try await repository.update(2) { $0.text = "bad" }
            source.meet(.refused(422))
            await deliver(outbox)
            let reading = try await repository.entity(2)
            #expect(reading.value.text == "2" && !reading.isPending)
            let letters = try await outbox.contents().deadLetters
            #expect(letters.map { $0.write?.entityID } == ["2"])
        }
    }

    @Test func deletionHidesTheEntityUntilDeliveredOrRefused() async throws {
        try await run { [self] repository, outbox in
            _ = try await repository.entities()
            source.goOffline()
            try await repository.delete(2)
            try await repository.delete(3)
            #expect(await repository.failure(2) == .notFound)
            #expect(try await texts(repository) == ["1"])
            let update = await #expect(throws: WriteError<Remark>.self) {
                try await repository.update(2) { $0.text = "x" }
            }
            #expect(update?.repositoryError.reason == .notFound)
            source.meet(.answered, .refused(403), .refused(422))
            await deliver(outbox)
            #expect(await repository.failure(2) == .notFound)
            #expect(try await texts(repository) == ["1", "3"])
            #expect(source.remarks.map(\.id) == [1, 3])
        }
    }

    @Test func deletionOfAMissingEntitySucceedsAfterALostResponse() async throws {
        try await run { [self] repository, outbox in
            source.meet(.answerLost)
            try await repository.delete(2)
            await outbox.drain()
            #expect(source.writes == ["DELETE 2", "DELETE 2"])
            #expect(outbox.counts.delivered == 1 && stage.errors.errors.isEmpty)
        }
    }

    @Test(arguments: [Editing<Remark>.Update.put, .patch])
    func emptyResponseCachesWhatTheOutboxSent(update: Editing<Remark>.Update) async throws {
        try await run(Editing(update)) { [self] repository, outbox in
            _ = try await repository.entity(2, .upstreamOnly)
            source.meet(.emptyAnswer)
            try await repository.update(2) { $0.text = "new" }
            await outbox.drain()
            let count = source.requests.count
            let reading = try await repository.entity(2)
            #expect(reading == Reading(Remark(id: 2, author: 7, text: "new"), origin: .memory))
            #expect(source.requests.count == count)
        }
    }

    @Test func updateWithoutAChangeIsNotSent() async throws {
        try await run(Editing(.patch)) { repository, outbox in
            let reading = try await repository.update(2) { $0.text = "2" }
            #expect(reading.value.text == "2" && !reading.isPending && outbox.pending.isEmpty)
        }
    }

    // MARK: Order

    @Test(arguments: [Editing<Remark>.Update.put, .patch])
    func eachWriteNamesTheVersionOfThePreviousOne(update: Editing<Remark>.Update) async throws {
        try await run(Editing(update)) { [self] repository, outbox in
            _ = try await repository.entity(2)
            source.goOffline()
            try await repository.update(2) { $0.text = "new" }
            try await repository.update(2) { $0.author = 9 }
            #expect(try await repository.entity(2).value == Remark(id: 2, author: 9, text: "new"))
            try await repository.delete(2)
            await deliver(outbox)
            let method = update == .put ? "PUT" : "PATCH"
            #expect(source.writes == [#"\#(method) 2 "v1""#, #"\#(method) 2 "v2""#, #"DELETE 2 "v3""#])
            #expect(source.remark(2) == nil && outbox.counts.refused == 0)
        }
    }

    /// The record of the second update must not contain the refused values of the first.
    @Test(arguments: [Editing<Remark>.Update.put, .patch])
    func writeAfterARefusedOneIsForTheCurrentVersion(update: Editing<Remark>.Update) async throws {
        try await run(Editing(update)) { [self] repository, outbox in
            _ = try await repository.entity(2)
            source.goOffline()
            try await repository.update(2) { $0.text = "bad" }
            try await repository.update(2) { $0.author = 9 }
            source.meet(.refused(422))
            await deliver(outbox)
            let write = "\(update == .put ? "PUT" : "PATCH") 2 \"v1\""
            #expect(source.writes == [write, write])
            #expect(source.remark(2) == Remark(id: 2, author: 9, text: "2"))
            #expect(try await repository.entity(2).value == Remark(id: 2, author: 9, text: "2"))
        }
    }

    @Test func concurrentUpdatesDoNotUndoEachOther() async throws {
        try await run { [self] repository, outbox in
            _ = try await repository.entity(2)
            source.goOffline()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 { group.addTask { try await repository.update(2) { $0.author += 1 } } }
                try await group.waitForAll()
            }
            #expect(try await repository.entity(2).value.author == 27)
            await deliver(outbox)
            #expect(source.remark(2)?.author == 27 && source.writes.count == 20)
        }
    }

    @Test(arguments: [0, 1, 2]) func discardedUpdateIsNotRepeatedByTheNext(discarded: Int) async throws {
        try await run { [self] repository, outbox in
            _ = try await repository.entity(2)
            source.goOffline()
            try await repository.update(2) { $0.text = "text" }
            try await repository.update(2) { $0.author += 1 }
            try await repository.update(2) { $0.author += 10 }
            let ids = outbox.pending.map(\.idempotencyKey)
            // Wait until no attempt is in flight.
            try await stage.timer.sleep(for: .milliseconds(1))
            #expect(try await outbox.discard(ids[discarded]))
            await deliver(outbox)
            // Each patch sets a value, so the last one wins.
            let author = discarded == 2 ? 8 : 18
            #expect(source.remark(2) == Remark(id: 2, author: author, text: discarded == 0 ? "2" : "text"))
            #expect(source.writes == [#"PUT 2 "v1""#, #"PUT 2 "v2""#])
        }
    }

    // MARK: Creations

    @Test(arguments: [Editing<Remark>.Update.put, .patch])
    func editsOfAPendingCreationFollowItToTheCreatedAddress(update: Editing<Remark>.Update) async throws {
        try await run(Editing(update)) { [self] repository, outbox in
            _ = try await repository.entities()
            source.goOffline()
            let created = try await repository.create(RemarkDTO(Remark(id: 0, author: 7, text: "draft"))).value
            #expect(created.id < 0)
            try await repository.update(created.id) { $0.text = "final" }
            #expect(try await repository.entity(created.id).value.text == "final")
            #expect(try await texts(repository) == ["1", "2", "3", "final"])
            let other = try await repository.create(RemarkDTO(Remark(id: 0, author: 7, text: "other"))).value
            try await repository.delete(other.id)
            #expect(try await texts(repository) == ["1", "2", "3", "final"])
            await deliver(outbox)
            let method = update == .put ? "PUT" : "PATCH"
            #expect(Set(source.writes) == ["POST remarks", #"\#(method) 4 "v1""#, #"DELETE 5 "v1""#])
            #expect(source.remarks.map(\.text) == ["1", "2", "3", "final"])
            #expect(outbox.counts.refused == 0)
            // The pending identifier still works.
            let count = source.requests.count
            #expect(try await repository.entity(created.id).value == Remark(id: 4, author: 7, text: "final"))
            try await repository.update(created.id) { $0.text = "later" }
            await outbox.drain()
            #expect(source.remark(4)?.text == "later" && source.requests.count == count + 1)
        }
    }

    @Test func editsOfARefusedCreationAreNotSent() async throws {
        try await run { [self] repository, outbox in
            source.goOffline()
            let created = try await repository.create(RemarkDTO(Remark(id: 0, author: 7, text: "bad"))).value
            try await repository.update(created.id) { $0.text = "still bad" }
            source.meet(.refused(422))
            await deliver(outbox)
            #expect(source.writes == ["POST remarks"])
            let letters = try await outbox.contents().deadLetters
            #expect(letters.count == 2)
            #expect(letters.contains { $0.cause?.contains("identifier of its entity is not known") == true })
            #expect(repository.pending.isEmpty)
            // Retried in order, both succeed.
            #expect(try await outbox.retryDeadLetters() == 2)
            await outbox.drain()
            #expect(source.remark(4)?.text == "still bad")
        }
    }

    @Test(arguments: [0, 1]) func refusedCreationAndItsEditAreRetriedTogether(place: Int) async throws {
        try await run { [self] repository, outbox in
            source.goOffline()
            let created = try await repository.create(RemarkDTO(Remark(id: 0, author: 7, text: "draft"))).value
            try await repository.update(created.id) { $0.text = "final" }
            source.meet(.refused(422))
            await deliver(outbox)
            let letters = try await outbox.contents().deadLetters
            #expect(letters.compactMap(\.write?.method) == [.post, .put])
            try #require(letters.count == 2)
            let entry = try await outbox.retry(letters[place].id)
            #expect(entry?.write == letters[place].write)
            await outbox.drain()
            #expect(source.remark(4)?.text == "final")
            #expect(outbox.status.deadLetterCount == 0 && outbox.status.deadLetterBytes == 0)
        }
    }

    // MARK: Restarts

    @Test(arguments: [Editing<Remark>.Update.put, .patch])
    func pendingWritesAreShownAndDeliveredByALaterProcess(update: Editing<Remark>.Update) async throws {
        try await run(Editing(update)) { [self] repository, _ in
            _ = try await repository.entity(2)
            source.goOffline()
            try await repository.update(2) { $0.text = "new" }
            try await repository.update(2) { $0.author = 9 }
            try await repository.delete(3)
            let created = try await repository.create(RemarkDTO(Remark(id: 0, author: 7, text: "draft"))).value
            try await repository.update(created.id) { $0.text = "final" }
        }
        try await run(Editing(update), keySeed: 2) { [self] repository, outbox in
            #expect(try await repository.entity(2).value == Remark(id: 2, author: 9, text: "new"))
            #expect(await repository.failure(3) == .notFound)
            let created = try #require(outbox.pending.first { $0.write.method == .post }).sequence
            #expect(try await repository.entity(-1 - created).value.text == "final")
            await deliver(outbox)
            #expect(source.remark(2) == Remark(id: 2, author: 9, text: "new"))
            #expect(source.remarks.map(\.text) == ["1", "new", "final"])
        }
        try await run(Editing(update), keySeed: 3) { [self] repository, _ in
            source.goOffline()
            let reading = try await repository.entity(2)
            #expect(reading.value == Remark(id: 2, author: 9, text: "new"))
        }
    }

    /// One process delivers the creation, and the next one delivers the edit.
    @Test func storedEditGetsItsAddressWhenTheCreationIsDelivered() async throws {
        try await run { [self] repository, outbox in
            source.goOffline()
            let created = try await repository.create(RemarkDTO(Remark(id: 0, author: 7, text: "draft"))).value
            try await repository.update(created.id) { $0.text = "final" }
            let creation = try #require(outbox.pending.first)
            source.meet(.answered, .lost, .lost, .lost, .lost)
            source.goOffline(false)
            outbox.retryNow()
            try await outbox.settlement(of: creation)
        }
        source.meet()
        try await run(keySeed: 2) { [self] repository, outbox in
            let reading = try await repository.entity(4)
            #expect(reading.value.text == "final")
            await outbox.drain()
            #expect(source.remark(4)?.text == "final")
            #expect(source.writes.last == #"PUT 4 "v1""#)
        }
    }

    /// The upstream keeps the draft's identifier, so the pending identifier does not change.
    @Test(arguments: Thoroughness.sample([UInt64](0..<10), every: 4))
    func editOfACreationThatKeepsItsIdentifierIsAcceptedAtAnyTime(seed: UInt64) async throws {
        let stage = OutboxStage(seed: seed)
        let outbox = try stage.outbox(source, store: SlowRecordStore(store, timer: stage.timer))
        let repository = try Repository.versioned(
            source,
            keepsDraftIDs: true,
            store: place,
            outbox: outbox,
            timer: stage.timer
        )
        try await stage.scheduler.run { [self] in
            try await outbox.open(handlers: [repository.handler])
            source.goOffline()
            let draft = Remark(id: 4, author: 7, text: "draft")
            #expect(try await repository.create(RemarkDTO(draft)).value == draft)
            try await repository.update(4) { $0.text += ", edited" }
            source.goOffline(false)
            outbox.retryNow()
            try await withThrowingTaskGroup(of: Void.self) { group in
                // Each edit begins while the creation is pending, during its settlement, or after it.
                for number in 0..<10 {
                    group.addTask {
                        try await stage.timer.sleep(for: .milliseconds(300 * number))
                        try await repository.update(4) { $0.text += "!" }
                    }
                }
                try await group.waitForAll()
            }
            await outbox.drain()
            #expect(source.remark(4)?.text == "draft, edited!!!!!!!!!!")
            #expect(try await repository.entity(4).value == source.remark(4))
            #expect(source.writes.filter { $0.hasPrefix("POST") }.count == 1)
            #expect(try await outbox.contents().deadLetters.isEmpty)
            try await repository.delete(4)
            await outbox.drain()
            #expect(source.remark(4) == nil)
            await repository.close()
            await outbox.close()
        }
    }

    // MARK: Other processes

    /// Another process delivers the write that this one has accepted.
    @Test func entitySettledByAnotherProcessIsReadAgain() async throws {
        try await run { [self] repository, outbox in
            _ = try await repository.entities()
            _ = try await repository.entity(2, .upstreamOnly)
            source.goOffline()
            try await repository.update(2) { $0.text = "new" }
            source.goOffline(false)
            source.put(Remark(id: 2, author: 7, text: "new"))
            let handler = try #require(repository.handler)
            handler.reset(to: [])
            let reading = try await repository.entity(2)
            #expect(reading.value.text == "new" && !reading.isPending && reading.origin == .upstream)
            #expect(try await texts(repository) == ["1", "new", "3"])
            _ = outbox
        }
    }

    // MARK: Units of work

    @Test(arguments: [Editing<Remark>.Update.put, .patch])
    func writesOfOneEntityInAUnitOfWorkFollowEachOther(update: Editing<Remark>.Update) async throws {
        try await run(Editing(update)) { [self] repository, outbox in
            _ = try await repository.entity(2)
            source.goOffline()
            let changes = [
                try await repository.prepareUpdate(of: 2, "an update") { $0.text = "new" },
                try await repository.prepareUpdate(of: 2, "another") { $0.author = 9 },
            ]
            try await RecordUnitOfWork(outbox: outbox).commit(changes.compactMap(\.self))
            await deliver(outbox)
            #expect(source.remark(2) == Remark(id: 2, author: 9, text: "new"))
            #expect(try await outbox.contents().deadLetters.isEmpty)
        }
    }

    /// An update that was prepared for a pending creation gets its address, even if the creation is delivered first.
    @Test func preparedUpdateOfAnEntityCreatedMeanwhileIsDelivered() async throws {
        try await run { [self] repository, outbox in
            source.goOffline()
            let created = try await repository.create(RemarkDTO(Remark(id: 0, author: 7, text: "draft"))).value
            let change = try await repository.prepareUpdate(of: created.id, "an update") { $0.text = "final" }
            await deliver(outbox)
            try await RecordUnitOfWork(outbox: outbox).commit([try #require(change)])
            await outbox.drain()
            #expect(source.remark(4)?.text == "final")
            #expect(source.writes == ["POST remarks", #"PUT 4 "v1""#])
        }
    }

    @Test func writesOfSeveralKindsAreAcceptedTogether() async throws {
        try await run { [self] repository, outbox in
            _ = try await repository.entity(2)
            source.goOffline()
            let changes = [
                try repository.prepareCreation(of: RemarkDTO(Remark(id: 0, author: 7, text: "new")), "a creation"),
                try await repository.prepareUpdate(of: 2, "an update") { $0.text = "other" },
                try await repository.prepareDeletion(of: 3, "a deletion"),
            ]
            try await RecordUnitOfWork(outbox: outbox).commit(changes.compactMap(\.self))
            #expect(outbox.pending.map(\.write.method) == [.post, .put, .delete])
            #expect(try await repository.entity(2).value.text == "other")
            await deliver(outbox)
            #expect(source.remarks.map(\.text) == ["1", "other", "new"])
        }
    }
}
