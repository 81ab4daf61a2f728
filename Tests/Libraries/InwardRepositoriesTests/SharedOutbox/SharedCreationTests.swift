import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Entities that one instance creates and another one delivers. Callers of the first one still have the pending identifier.
@Suite(.timeLimit(.minutes(5)))
struct SharedCreationTests: SharedRepositorySuite {
    let stage = SharedOutboxStage()
    let source = VersionedSource()

    private let draft = RemarkDTO(Remark(id: 0, author: 7, text: "a"))

    /// Creates a remark on the first instance, and lets the second one deliver it.
    private func created(
        _ first: SharedInstance,
        _ second: SharedInstance
    ) async throws -> (pendingID: Int, id: Int) {
        let pendingID = try await first.remarks.create(draft).value.id
        try await stage.until { try await second.partition.contents().pending.isEmpty }
        let id = try #require(try await second.remarks.entities().value.first { $0.text == "a" }?.id)
        #expect(id != pendingID && id > 0)
        return (pendingID, id)
    }

    /// The instance that created the entity follows the other one, or does not.
    @Test(arguments: [[1], [0, 1]], [Editing<Remark>.Update.put, .patch])
    func entityIsFoundByItsPendingIdentifier(running: [Int], update: Editing<Remark>.Update) async throws {
        try await run(running: running, Editing(update)) { [self] first, second in
            if running.contains(0) { source.goOffline() }
            let pendingID = try await first.remarks.create(draft).value.id
            source.goOffline(false)
            try await stage.until { try await second.partition.contents().pending.isEmpty }
            try await first.partition.showPending()
            let reading = try await first.remarks.entity(pendingID)
            #expect(!reading.isPending && reading.value.id > 0 && reading.value.text == "a")
            let updated = try await first.remarks.update(pendingID) { $0.text = "b" }
            #expect(updated.value.id == reading.value.id)
            try await stage.until { source.remark(reading.value.id)?.text == "b" }
        }
    }

    @Test(arguments: [Editing<Remark>.Update.put, .patch])
    func updateFollowsACreationThatWasDeliveredMeanwhile(update: Editing<Remark>.Update) async throws {
        try await run(running: [1], Editing(update)) { [self] first, second in
            let (pendingID, id) = try await created(first, second)
            // The first instance still shows the creation as pending.
            #expect(first.partition.pending.count == 1)
            let updated = try await first.remarks.update(pendingID) { $0.text = "b" }
            #expect(updated.value == Remark(id: id, author: 7, text: "b"))
            try await stage.until { source.remark(id)?.text == "b" }
        }
    }

    @Test(arguments: [false, true])
    func deletionOfAPendingIdentifierDeletesTheEntity(isShown: Bool) async throws {
        try await run(running: [1]) { [self] first, second in
            let (pendingID, id) = try await created(first, second)
            if isShown { try await first.partition.showPending() }
            try await first.remarks.delete(pendingID)
            try await stage.until { source.remark(id) == nil }
            #expect(source.writes.last?.hasPrefix("DELETE \(id)") == true)
        }
    }

    @Test func entityIsFoundOnAnInstanceThatNeverShowedTheCreation() async throws {
        try await run(running: [1], joining: [0]) { [self] first, second in
            let (pendingID, id) = try await created(first, second)
            let third = try instance(3, Editing(.patch))
            try await join(third)
            let change = try await third.remarks.prepareDeletion(of: pendingID, "the deletion")
            #expect(change?.writes.map(\.path) == ["remarks/\(id)"])
            #expect(try await third.remarks.entity(pendingID).value.id == id)
        }
    }

    @Test func observationFollowsTheEntity() async throws {
        try await run(running: [1]) { [self] first, second in
            let pendingID = try await first.remarks.create(draft).value.id
            var readings = first.remarks.changes(of: pendingID).makeAsyncIterator()
            #expect(try await readings.next()?.value?.id == pendingID)
            try await stage.until { try await second.partition.contents().pending.isEmpty }
            try await first.partition.showPending()
            let id = try #require(try await readings.next()?.value?.id)
            #expect(id > 0)
            try await first.remarks.update(id) { $0.text = "b" }
            #expect(try await readings.next()?.value?.text == "b")
        }
    }

    /// The upstream keeps the identifier of the draft.
    @Test func entityWithTheIdentifierOfItsDraftIsFound() async throws {
        try await run(running: [1], keepsDraftIDs: true) { [self] first, second in
            let draft = RemarkDTO(Remark(id: 4, author: 7, text: "a"))
            #expect(try await first.remarks.create(draft).value.id == 4)
            try await stage.until { try await second.partition.contents().pending.isEmpty }
            let updated = try await first.remarks.update(4) { $0.text = "b" }
            #expect(updated.value.text == "b")
            try await stage.until { source.remark(4)?.text == "b" }
        }
    }

    /// The other instance has not heard of the creation yet.
    @Test func deletionFollowsACreationThatIsPendingOnAnotherInstance() async throws {
        try await run(running: []) { [self] first, second in
            let pendingID = try await first.remarks.create(draft).value.id
            try await second.remarks.delete(pendingID)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await first.outbox.run() }
                try await stage.until { try await first.partition.contents().pending.isEmpty }
                group.cancelAll()
            }
            #expect(source.writes.count == 2 && source.remarks.allSatisfy { $0.text != "a" })
        }
    }

    /// The changes have no address without the creation, so none of the three can be sent alone.
    @Test(arguments: [0, 1, 2]) func refusedCreationIsSentAgainTogetherWithItsChanges(place: Int) async throws {
        try await run { [self] first, second in
            source.goOffline()
            let pendingID = try await first.remarks.create(draft).value.id
            try await first.remarks.update(pendingID) { $0.text = "b" }
            try await first.remarks.update(pendingID) { $0.author = 8 }
            source.meet(.refused(422))
            source.goOffline(false)
            try await stage.until { try await second.partition.contents().pending.isEmpty }
            let letters = try await second.partition.contents().deadLetters
            #expect(letters.compactMap(\.write?.method) == [.post, .patch, .patch])
            try #require(letters.count == 3)
            let entry = try #require(try await second.partition.retry(letters[place].id))
            #expect(entry.write == letters[place].write && entry.acceptedAt == letters[place].acceptedAt)
            let again = try await second.partition.retry(letters[2 - place].id)
            #expect(again == nil)
            try await stage.until { try await second.partition.contents().pending.isEmpty }
            #expect(source.remarks.last == Remark(id: 4, author: 8, text: "b"))
            let rest = try await second.partition.contents().deadLetters
            #expect(rest.isEmpty)
        }
    }

    /// Somebody does not want one of the changes.
    @Test func discardedChangeIsNotSentAgainWithItsCreation() async throws {
        try await run { [self] first, second in
            source.goOffline()
            let pendingID = try await first.remarks.create(draft).value.id
            try await first.remarks.update(pendingID) { $0.text = "b" }
            source.meet(.refused(422))
            source.goOffline(false)
            try await stage.until { try await second.partition.contents().pending.isEmpty }
            let letters = try await second.partition.contents().deadLetters
            try #require(letters.count == 2)
            #expect(try await second.partition.discard(letters[1].id))
            _ = try await second.partition.retry(letters[0].id)
            try await stage.until { try await second.partition.contents().pending.isEmpty }
            #expect(source.remarks.last == Remark(id: 4, author: 7, text: "a"))
        }
    }

    @Test func nothingIsWrittenIfTheStoreCannotTellWhichEntityIsMeant() async throws {
        let isDown = Box<Bool>()
        let gated = GatedSharedStore(stage.store) { operation, _ async throws(RecordStoreError) in
            guard operation == .read, isDown.peek == true else { return }
            throw RecordStoreError(.unavailable, explanation: "The server is down.")
        }
        try await run(running: [1], over: gated) { [self] first, second in
            let (pendingID, id) = try await created(first, second)
            try await first.partition.showPending()
            isDown.put(true)
            await #expect(throws: WriteError<Remark>.self) { try await first.remarks.delete(pendingID) }
            isDown.put(false)
            #expect(try await second.partition.contents().pending.isEmpty && source.remark(id) != nil)
            try await first.remarks.delete(pendingID)
            try await stage.until { source.remark(id) == nil }
        }
    }

    @Test func identifierOfNothingIsNotFound() async throws {
        try await run(running: [1]) { first, _ in
            let error = await #expect(throws: RepositoryError.self) { try await first.remarks.entity(-77) }
            #expect(error?.reason == .notFound)
        }
    }
}
