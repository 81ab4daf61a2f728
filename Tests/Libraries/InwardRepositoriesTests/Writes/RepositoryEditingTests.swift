import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A repository that sends updates and deletions immediately.
@Suite(.timeLimit(.minutes(5)))
struct RepositoryEditingTests {
    private let source = VersionedSource()

    private func repository(
        _ update: Editing<Remark>.Update? = .put,
        _ rule: ConflictRule<Remark> = .ask,
        allowsDeletion: Bool = true,
        memory: MemoryLimit = MemoryLimit()
    ) throws -> Repository<Remark> {
        try .versioned(source, Editing(update, allowsDeletion: allowsDeletion, onConflict: rule), memory: memory)
    }

    private static func place(_ records: any RecordStore) -> RepositoryStore {
        RepositoryStore(records, partition: []) {
            OutboxStage.time
        } reportFailure: { _ in
        }
    }

    private func versions(_ error: WriteError<Remark>?) -> WriteConflict<Remark>? {
        if case .conflict(let conflict)? = error { conflict } else { nil }
    }

    // MARK: Updates

    @Test(arguments: [Editing<Remark>.Update.put, .patch])
    func updateNamesTheTagThatWasReadAndAllReadsSeeIt(update: Editing<Remark>.Update) async throws {
        let repository = try repository(update)
        _ = try await repository.entity(2)
        _ = try await repository.entities()
        _ = try await repository.entity(2, .upstreamOnly)
        let reading = try await repository.update(2) { $0.text = "new" }
        #expect(reading == Reading(Remark(id: 2, author: 7, text: "new"), origin: .upstream))
        #expect(source.writes == [#"\#(update == .put ? "PUT" : "PATCH") 2 "v1""#])
        #expect(source.remark(2)?.text == "new")
        let count = source.requests.count
        #expect(try await repository.entity(2).value.text == "new")
        #expect(try await repository.entities().value.map(\.text) == ["1", "new", "3"])
        #expect(source.requests.count == count)
        // The next update names the tag of this response.
        try await repository.update(2) { $0.text = "newer" }
        #expect(source.writes.last?.hasSuffix(#""v2""#) == true)
    }

    @Test func patchContainsTheChangedFields() async throws {
        let repository = try repository(.patch)
        try await repository.update(2) { $0.text = "new" }
        let request = try #require(source.requests.last)
        #expect(request.text == #"{"text":"new"}"#)
        #expect(request.headerFields[.contentType] == "application/merge-patch+json")
        #expect(request.headerFields[.accept] == "application/json")
        try await repository.update(2) { $0.text = "new" }
        #expect(source.writes.count == 1)
    }

    @Test func entityReadInAListHasNoTag() async throws {
        let repository = try repository()
        _ = try await repository.entities()
        try await repository.update(2) { $0.text = "new" }
        #expect(source.writes == ["PUT 2"])
    }

    @Test func tagIsFetchedWithoutACache() async throws {
        let repository = try repository(memory: .nothing)
        try await repository.update(2) { $0.text = "new" }
        #expect(source.writes == [#"PUT 2 "v1""#])
        // An intermediate cache may answer: if its tag is outdated, the upstream refuses the write.
        #expect(source.requests.allSatisfy { $0.headerFields[.cacheControl] == nil })
    }

    @Test func emptyResponseCachesWhatWasSent() async throws {
        let repository = try repository(.patch)
        source.meet(.emptyAnswer)
        #expect(try await repository.update(2) { $0.text = "new" }.value.text == "new")
        let count = source.requests.count
        #expect(try await repository.entity(2).value.text == "new")
        #expect(source.requests.count == count)
    }

    @Test func upstreamIsReadAfterAResponseWithoutARecord() async throws {
        let repository = try repository()
        source.meet(.strangeAnswer)
        #expect(try await repository.update(2) { $0.text = "new" }.value.text == "new")
        #expect(try await repository.entity(2).origin == .upstream)
    }

    /// A process that is killed after the update returns must leave the updated record for the next process.
    @Test func storeIsUpToDateWhenAnUpdateReturns() async throws {
        let scheduler = DeterministicScheduler(seed: 7)
        let records = InMemoryRecordStore(now: { OutboxStage.time })
        try await scheduler.run {
            let slow = SlowRecordStore(records, timer: scheduler.timer)
            let repository = try Repository.versioned(source, store: Self.place(slow), timer: scheduler.timer)
            try await repository.update(2) { $0.text = "new" }
            let again = try Repository.versioned(source, store: Self.place(records), timer: scheduler.timer)
            #expect(try await again.entity(2, .cacheOnly).value.text == "new")
        }
    }

    @Test func uncertainUpdateLeavesNothingCached() async throws {
        let repository = try repository()
        _ = try await repository.entity(2)
        source.meet(.answerLost)
        let error = await #expect(throws: WriteError<Remark>.self) {
            try await repository.update(2) { $0.text = "new" }
        }
        #expect(error?.repositoryError.reason == .outcomeUnknown)
        #expect(try await repository.entity(2) == Reading(Remark(id: 2, author: 7, text: "new"), origin: .upstream))
    }

    @Test func refusedUpdateChangesNothing() async throws {
        let repository = try repository()
        _ = try await repository.entity(2)
        source.meet(.refused(422))
        let error = await #expect(throws: WriteError<Remark>.self) {
            try await repository.update(2) { $0.text = "new" }
        }
        #expect(error?.repositoryError.reason == .refused && error?.description.contains("422") == true)
        #expect(try await repository.entity(2).origin == .memory)
        #expect(try await repository.entity(2).value.text == "2")
    }

    @Test func missingEntityIsNotUpdated() async throws {
        let repository = try repository()
        let error = await #expect(throws: WriteError<Remark>.self) {
            try await repository.update(9) { $0.text = "new" }
        }
        #expect(error?.repositoryError.reason == .notFound && source.writes.isEmpty)
        _ = try await repository.entity(2)
        source.remove(2)
        let gone = await #expect(throws: WriteError<Remark>.self) { try await repository.update(2) { $0.text = "new" } }
        #expect(gone?.repositoryError.reason == .notFound)
        #expect(await repository.failure(2) == .notFound)
    }

    @Test func updateCannotChangeTheIdentifierOrBeSentWithoutEditing() async throws {
        let repository = try repository()
        let other = Remark(id: 3, author: 7, text: "x")
        let error = await #expect(throws: WriteError<Remark>.self) { try await repository.update(2) { $0 = other } }
        #expect(error?.description.contains("cannot change the identifier") == true)
        let readOnly = try self.repository(nil, allowsDeletion: false)
        let update = await #expect(throws: WriteError<Remark>.self) { try await readOnly.update(2) { $0.text = "x" } }
        #expect(
            update?.description
                == "The change of http://upstream.test/api/remarks/2 was not sent: its endpoint declares no updates"
        )
        let deletion = await #expect(throws: WriteError<Remark>.self) { try await readOnly.delete(2) }
        #expect(deletion?.repositoryError.reason == .refused && source.writes.isEmpty)
        await repository.close()
        let closed = await #expect(throws: WriteError<Remark>.self) { try await repository.delete(2) }
        #expect(closed?.repositoryError.reason == .closed)
    }

    // MARK: Deletions

    @Test func deletedEntityIsNotFound() async throws {
        let repository = try repository()
        _ = try await repository.entity(2)
        _ = try await repository.entities()
        _ = try await repository.entity(2, .upstreamOnly)
        try await repository.delete(2)
        #expect(source.writes == [#"DELETE 2 "v1""#] && source.remark(2) == nil)
        #expect(await repository.failure(2) == .notFound)
        #expect(try await repository.entities().value.map(\.id) == [1, 3])
    }

    @Test func storeHasNoDeletedEntityWhenTheDeletionReturns() async throws {
        let records = InMemoryRecordStore(now: { OutboxStage.time })
        let repository = try Repository.versioned(source, store: Self.place(records))
        _ = try await repository.entity(2)
        _ = try await repository.entities()
        await repository.flush()
        let before = try Repository.versioned(source, store: Self.place(records))
        #expect(try await before.entity(2, .cacheOnly).value.text == "2")
        try await repository.delete(2)
        let again = try Repository.versioned(source, store: Self.place(records))
        #expect(await again.failure(2, .cacheOnly) == .unavailable)
        #expect(try await again.entities(.all, .cacheOnly).value.map(\.id) == [1, 3])
    }

    @Test func deletingAMissingEntitySucceeds() async throws {
        let repository = try repository()
        _ = try await repository.entity(2)
        source.remove(2)
        try await repository.delete(2)
        #expect(await repository.failure(2) == .notFound)
    }

    // MARK: Conflicts

    /// Reads the second remark, and then changes it at the upstream.
    private func overtake(_ repository: Repository<Remark>) async throws {
        _ = try await repository.entity(2)
        source.put(Remark(id: 2, author: 8, text: "theirs"))
    }

    @Test func conflictHasBothVersions() async throws {
        let repository = try repository()
        try await overtake(repository)
        let error = await #expect(throws: WriteError<Remark>.self) {
            try await repository.update(2) { $0.text = "mine" }
        }
        let conflict = try #require(versions(error))
        #expect(conflict.mine == Remark(id: 2, author: 7, text: "mine"))
        #expect(conflict.theirs == Remark(id: 2, author: 8, text: "theirs"))
        #expect(conflict.refusal.reason == .conflict)
        #expect(error?.description.contains("412") == true && error?.description.contains("read it again") == true)
        // The caller decides. The upstream's version is cached now.
        try await repository.update(2) { $0.text = "mine after all" }
        #expect(source.remark(2) == Remark(id: 2, author: 8, text: "mine after all"))
        #expect(source.writes == [#"PUT 2 "v1""#, #"PUT 2 "v2""#])
    }

    @Test func deletionConflictsLikeAnUpdate() async throws {
        let repository = try repository()
        try await overtake(repository)
        let error = await #expect(throws: WriteError<Remark>.self) { try await repository.delete(2) }
        let conflict = try #require(versions(error))
        #expect(conflict.mine == nil && conflict.theirs?.text == "theirs")
        #expect(source.remark(2)?.text == "theirs")
    }

    @Test func entityDeletedInTheMeantimeHasNoOtherVersion() async throws {
        let repository = try repository(.put, .mine)
        _ = try await repository.entity(2)
        source.meet(.refused(409))
        source.remove(2)
        let error = await #expect(throws: WriteError<Remark>.self) {
            try await repository.update(2) { $0.text = "mine" }
        }
        #expect(try #require(versions(error)).theirs == nil)
    }

    @Test func ruleDecidesBetweenVersions() async throws {
        let mine = try repository(.put, .mine)
        try await overtake(mine)
        #expect(try await mine.update(2) { $0.text = "mine" }.value == Remark(id: 2, author: 7, text: "mine"))
        let patching = try repository(.patch, .mine)
        try await overtake(patching)
        #expect(try await patching.update(2) { $0.text = "my part" }.value == Remark(id: 2, author: 8, text: "my part"))
        let theirs = try repository(.put, .theirs)
        try await overtake(theirs)
        #expect(try await theirs.update(2) { $0.text = "mine" }.value.text == "theirs")
        #expect(source.remark(2)?.text == "theirs")
        let merging = try repository(
            .put,
            .merge { Remark(id: 2, author: 9, text: "\($0.mine?.text ?? "") and \($0.theirs?.text ?? "")") }
        )
        try await overtake(merging)
        #expect(try await merging.update(2) { $0.text = "mine" }.value.text == "mine and theirs")
        #expect(source.remark(2) == Remark(id: 2, author: 9, text: "mine and theirs"))
    }

    @Test func ruleDecidesAboutADeletion() async throws {
        let theirs = try repository(.put, .theirs)
        try await overtake(theirs)
        try await theirs.delete(2)
        #expect(try await theirs.entity(2).value.text == "theirs")
        let merging = try repository(
            .put,
            .merge { conflict in conflict.theirs.map { Remark(id: 2, author: 9, text: $0.text) } }
        )
        try await overtake(merging)
        try await merging.delete(2)
        #expect(source.remark(2)?.author == 9)
        let mine = try repository(.put, .mine)
        try await overtake(mine)
        try await mine.delete(2)
        #expect(source.remark(2) == nil)
    }

    /// The response is empty, so the repository itself applies the patch to their version.
    @Test func patchOfTheirVersionKeepsBothChanges() async throws {
        let repository = try repository(.patch, .mine)
        try await overtake(repository)
        source.meet(.answered, .emptyAnswer)
        let reading = try await repository.update(2) { $0.text = "mine" }
        #expect(reading.value == Remark(id: 2, author: 8, text: "mine") && source.remark(2) == reading.value)
        #expect(try await repository.entity(2).value == reading.value)
    }

    @Test func patchedUnknownVersionIsReadAgain() async throws {
        let repository = try repository(.patch)
        _ = try await repository.entities()
        source.put(Remark(id: 2, author: 8, text: "theirs"))
        source.meet(.emptyAnswer)
        try await repository.update(2) { $0.text = "mine" }
        #expect(try await repository.entity(2).value == Remark(id: 2, author: 8, text: "mine"))
        #expect(try await repository.entities().value.map(\.text) == ["1", "mine", "3"])
    }

    /// The upstream refuses for a reason other than the version.
    @Test(arguments: ["mine", "theirs", "ask"]) func refusalOfTheSameVersionIsNotAConflict(rule: String) async throws {
        let repository = try repository(.put, ["mine": .mine, "theirs": .theirs][rule] ?? .ask)
        _ = try await repository.entity(2)
        source.meet(.refused(409), .refused(409))
        let update = await #expect(throws: WriteError<Remark>.self) { try await repository.update(2) { $0.text = "x" } }
        let deletion = await #expect(throws: WriteError<Remark>.self) { try await repository.delete(2) }
        for error in [update, deletion] {
            #expect(error?.repositoryError.reason == .conflict && versions(error) == nil)
        }
        #expect(source.writes.count == 2)
    }

    @Test func updateGivesUpAfterRepeatedConflicts() async throws {
        let repository = try repository(.put, .mine)
        _ = try await repository.entity(2)
        source.omitTags()
        source.meet(.refused(412), .refused(412), .refused(412), .refused(412), .refused(412))
        let error = await #expect(throws: WriteError<Remark>.self) {
            try await repository.update(2) { $0.text = "mine" }
        }
        #expect(versions(error) != nil && source.writes.count == 5)
    }

    @Test func deletionGivesUpAfterRepeatedConflicts() async throws {
        let repository = try repository(.put, .mine)
        _ = try await repository.entity(2)
        source.omitTags()
        source.meet(.refused(412), .refused(412), .refused(412), .refused(412), .refused(412))
        let error = await #expect(throws: WriteError<Remark>.self) { try await repository.delete(2) }
        #expect(versions(error) != nil && source.writes.count == 5)
    }
}
