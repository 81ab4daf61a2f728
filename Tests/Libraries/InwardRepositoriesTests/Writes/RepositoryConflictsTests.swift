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

/// Conflicts of writes in an outbox that no rule decides, and that are resolved later.
@Suite(.timeLimit(.minutes(5)))
struct RepositoryConflictsTests {
    private let stage = OutboxStage()
    private let source = VersionedSource()
    private let store = InMemoryRecordStore(now: { OutboxStage.time })
    private let mine = Remark(id: 2, author: 7, text: "mine")
    private let theirs = Remark(id: 2, author: 8, text: "theirs")

    /// Runs a process that opens an outbox and a repository over the store, and closes them at the end.
    private func run(
        _ editing: Editing<Remark> = Editing(.put),
        keySeed: UInt64 = 1,
        _ body: @escaping @Sendable (Repository<Remark>, Outbox) async throws -> Void
    ) async throws {
        let outbox = try stage.outbox(source, store: store, keySeed: keySeed)
        let place = RepositoryStore(store, partition: ["kept"]) {
            OutboxStage.time
        } reportFailure: { _ in
        }
        let repository = try Repository.versioned(source, editing, store: place, outbox: outbox, timer: stage.timer)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [repository.handler])
            try await body(repository, outbox)
            await repository.close()
            await outbox.close()
        }
    }

    /// Updates the second remark, and changes it at the upstream before the update is sent.
    private func overtake(
        _ repository: Repository<Remark>,
        _ outbox: Outbox,
        _ change: (Repository<Remark>) async throws -> Void = { try await $0.update(2) { $0.text = "mine" } }
    ) async throws {
        _ = try await repository.entity(2, .upstreamOnly)
        source.goOffline()
        try await change(repository)
        source.put(theirs)
        source.goOffline(false)
        outbox.retryNow()
        await outbox.drain()
    }

    /// Updates the second remark, and deletes it at the upstream before the update is sent.
    private func deleteThere(_ repository: Repository<Remark>, _ outbox: Outbox) async throws {
        _ = try await repository.entity(2)
        source.goOffline()
        try await repository.update(2) { $0.text = "mine" }
        source.remove(2)
        source.meet(.refused(409))
        source.goOffline(false)
        outbox.retryNow()
        await outbox.drain()
    }

    private func onlyConflict(_ repository: Repository<Remark>) async throws -> UnresolvedConflict<Remark> {
        let conflicts = try await repository.conflicts()
        #expect(conflicts.count == 1)
        return try #require(conflicts.first)
    }

    private struct Label: Identifiable, Sendable {
        let id: Int
    }

    private struct LabelDTO: RecordDTO {
        static let listName = "labels"
        let id: Int

        init(_ label: Label) { id = label.id }

        func entity() throws(FieldError) -> Label { Label(id: id) }
    }

    // MARK: Listing conflicts

    @Test(arguments: [Editing<Remark>.Update.put, .patch])
    func bothVersionsSurviveARestartOffline(update: Editing<Remark>.Update) async throws {
        try await run(Editing(update)) { [self] repository, outbox in
            try await overtake(repository, outbox)
            #expect(stage.errors.errors.compactMap { ($0 as? RefusedWriteError)?.cause.reason } == [.conflict])
        }
        source.goOffline()
        try await run(Editing(update), keySeed: 2) { [self] repository, outbox in
            let conflict = try await onlyConflict(repository)
            let letter = try #require(try await outbox.contents().deadLetters.first)
            #expect(conflict.id == letter.id && conflict.entityID == 2)
            #expect(letter.state == .refused(at: conflict.refusedAt))
            #expect(conflict.versions.theirs == theirs)
            // A patch changes only the fields that it contains.
            #expect(conflict.versions.mine == Remark(id: 2, author: update == .put ? 7 : 8, text: "mine"))
            let cause = try #require(stage.errors.errors.first as? RefusedWriteError).cause
            #expect(conflict.versions.refusal == cause)
            #expect(letter.byteCount > (letter.write?.byteCount ?? 0))
            #expect(outbox.status.deadLetterBytes == letter.byteCount)
        }
    }

    @Test func sizeOfADeadLetterIsTheSameAfterARestart() async throws {
        try await run { [self] repository, outbox in
            try await overtake(repository, outbox)
            let bytes = outbox.status.deadLetterBytes
            #expect(try await outbox.contents().status.deadLetterBytes == bytes)
            try await repository.resolve(try await onlyConflict(repository), .mine)
            await outbox.drain()
            #expect(outbox.status.deadLetterBytes == 0 && outbox.status.deadLetterCount == 0)
        }
    }

    @Test func conflictIsKeptWhenARuleGivesUp() async throws {
        let rule = ConflictRule<Remark>.merge { _ in nil }
        try await run(Editing(.put, onConflict: rule)) { [self] repository, outbox in
            try await overtake(repository, outbox)
            #expect(try await onlyConflict(repository).versions.theirs == theirs)
        }
        source.omitTags()
        try await run(Editing(.put, onConflict: .mine), keySeed: 2) { [self] repository, outbox in
            source.put(Remark(id: 3, author: 8, text: "theirs"))
            source.meet(.refused(412), .refused(412), .refused(412), .refused(412), .refused(412), .refused(412))
            try await repository.update(3) { $0.text = "mine" }
            await outbox.drain()
            #expect(try await repository.conflicts().map(\.entityID) == [2, 3])
        }
    }

    @Test func otherRefusalsAreNotConflicts() async throws {
        try await run { [self] repository, outbox in
            _ = try await repository.entity(2)
            // The upstream still has the version that the write names, so this is not a conflict of versions.
            source.meet(.refused(409))
            try await repository.update(2) { $0.text = "mine" }
            await outbox.drain()
            source.meet(.refused(422))
            try await repository.update(2) { $0.text = "bad" }
            await outbox.drain()
            #expect(try await outbox.contents().deadLetters.count == 2)
            #expect(try await repository.conflicts().isEmpty)
        }
    }

    @Test func eachRepositoryHasItsOwnConflicts() async throws {
        try await run { [self] repository, outbox in
            try await overtake(repository, outbox)
            let others = Repository(
                Endpoint(LabelDTO.self, at: "labels", editing: Editing(.put)),
                upstream: try .example(source),
                outbox: outbox,
                timer: stage.timer
            )
            #expect(try await others.conflicts().isEmpty)
            let direct = try Repository.versioned(source)
            #expect(try await direct.conflicts().isEmpty)
            let error = await #expect(throws: RepositoryError.self) {
                try await direct.resolve(try await onlyConflict(repository), .mine)
            }
            #expect(error?.reason == .notFound)
        }
    }

    @Test func closedRepositoryReturnsNoConflicts() async throws {
        try await run { [self] repository, outbox in
            try await overtake(repository, outbox)
            let conflict = try await onlyConflict(repository)
            await repository.close()
            let error = await #expect(throws: RepositoryError.self) { try await repository.conflicts() }
            #expect(error?.reason == .closed)
            let other = await #expect(throws: RepositoryError.self) { try await repository.resolve(conflict, .mine) }
            #expect(other?.reason == .closed)
        }
    }

    /// It stays a dead letter, which can be discarded.
    @Test func unreadableVersionIsLeftOutOfConflicts() async throws {
        try await run { [self] repository, outbox in
            try await overtake(repository, outbox)
            let (key, record) = try #require(try await store.records(under: outbox.records.dead).first)
            let text = String(decoding: record.bytes, as: UTF8.self)
            let other = Data(#"{"id":3,"author":8,"text":"theirs"}"#.utf8).base64EncodedString()
            let damaged = text.replacing(#/"theirs":"[^"]*"/#, with: #""theirs":"\#(other)""#)
            #expect(damaged != text)
            try await store.commit([.keep(StoredRecord(Array(damaged.utf8)), key)])
            #expect(try await repository.conflicts().isEmpty)
            #expect(try await outbox.contents().deadLetters.count == 1)
        }
    }

    // MARK: Resolving conflicts

    @Test(arguments: [Editing<Remark>.Update.put, .patch])
    func resolvingWithMineSendsMineWithTheirTag(update: Editing<Remark>.Update) async throws {
        try await run(Editing(update)) { [self] repository, outbox in try await overtake(repository, outbox) }
        try await run(Editing(update), keySeed: 2) { [self] repository, outbox in
            source.goOffline()
            let conflict = try await onlyConflict(repository)
            try await repository.resolve(conflict, .mine)
            #expect(try await repository.conflicts().isEmpty)
            // The commit that accepts the write also removes the dead letter.
            #expect(outbox.status.deadLetterCount == 0 && outbox.status.pendingCount == 1)
            source.goOffline(false)
            let reading = try await repository.entity(2)
            #expect(reading.isPending && reading.value == conflict.versions.mine)
            outbox.retryNow()
            await outbox.drain()
            #expect(source.remark(2) == conflict.versions.mine)
            let method = update == .put ? "PUT" : "PATCH"
            #expect(source.writes == [#"\#(method) 2 "v1""#, #"\#(method) 2 "v2""#])
            let keys = source.requests.compactMap { $0.headerFields[.idempotencyKey] }
            #expect(Set(keys).count == 2)
        }
    }

    @Test func resolvingWithTheirsDiscardsMine() async throws {
        try await run { [self] repository, outbox in
            try await overtake(repository, outbox)
            let conflict = try await onlyConflict(repository)
            try await repository.resolve(conflict, .theirs)
            #expect(try await outbox.contents().deadLetters.isEmpty && outbox.pending.isEmpty)
            #expect(try await repository.entity(2).value == theirs)
            #expect(source.writes.count == 1)
            let error = await #expect(throws: RepositoryError.self) { try await repository.resolve(conflict, .theirs) }
            #expect(error?.reason == .notFound)
        }
    }

    @Test(arguments: [Editing<Remark>.Update.put, .patch])
    func mergedEntityIsSentWithTheirTag(update: Editing<Remark>.Update) async throws {
        try await run(Editing(update)) { [self] repository, outbox in
            try await overtake(repository, outbox)
            let conflict = try await onlyConflict(repository)
            let merged = Remark(id: 2, author: 8, text: "mine and theirs")
            try await repository.resolve(conflict, .merged(merged))
            await outbox.drain()
            #expect(source.remark(2) == merged)
            #expect(source.writes.last == #"\#(update == .put ? "PUT" : "PATCH") 2 "v2""#)
            #expect(try await repository.entity(2) == Reading(merged, origin: .memory))
        }
    }

    @Test func mergeThatEqualsTheirVersionSendsNothing() async throws {
        try await run { [self] repository, outbox in
            try await overtake(repository, outbox)
            try await repository.resolve(try await onlyConflict(repository), .merged(theirs))
            await outbox.drain()
            #expect(try await outbox.contents().deadLetters.isEmpty && source.writes.count == 1)
        }
    }

    @Test func mergedEntityMustHaveTheSameIdentifier() async throws {
        try await run { [self] repository, outbox in
            try await overtake(repository, outbox)
            let conflict = try await onlyConflict(repository)
            let error = await #expect(throws: RepositoryError.self) {
                try await repository.resolve(conflict, .merged(Remark(id: 3, author: 7, text: "3")))
            }
            #expect(error?.reason == .refused)
            #expect(try await repository.conflicts().count == 1 && outbox.pending.isEmpty)
        }
    }

    /// A resolution must not overwrite a change that the user has not seen.
    @Test func changeSinceTheConflictIsANewConflict() async throws {
        try await run { [self] repository, outbox in
            try await overtake(repository, outbox)
            let conflict = try await onlyConflict(repository)
            let newest = Remark(id: 2, author: 9, text: "newest")
            source.put(newest)
            try await repository.resolve(conflict, .mine)
            await outbox.drain()
            #expect(source.remark(2) == newest && source.writes.last == #"PUT 2 "v2""#)
            let next = try await onlyConflict(repository)
            #expect(next.id != conflict.id && next.versions.mine == mine && next.versions.theirs == newest)
            try await repository.resolve(next, .mine)
            await outbox.drain()
            #expect(source.remark(2) == mine)
            #expect(try await repository.conflicts().isEmpty)
        }
    }

    /// The outbox sends the entity that the user has chosen, and does not apply it to a version that was read since.
    @Test func newerCachedVersionDoesNotAffectTheResolution() async throws {
        try await run { [self] repository, outbox in
            try await overtake(repository, outbox)
            let conflict = try await onlyConflict(repository)
            let newest = Remark(id: 2, author: 9, text: "theirs")
            source.put(newest)
            _ = try await repository.entity(2, .upstreamOnly)
            source.goOffline()
            try await repository.resolve(conflict, .mine)
            #expect(try await repository.entity(2).value == mine)
            source.goOffline(false)
            outbox.retryNow()
            await outbox.drain()
            #expect(source.remark(2) == newest && source.writes.last == #"PUT 2 "v2""#)
            #expect(try await onlyConflict(repository).versions.mine == mine)
        }
    }

    @Test func conflictIsResolvedOnce() async throws {
        try await run { [self] repository, outbox in
            try await overtake(repository, outbox)
            let conflict = try await onlyConflict(repository)
            try await repository.resolve(conflict, .mine)
            let error = await #expect(throws: RepositoryError.self) { try await repository.resolve(conflict, .mine) }
            #expect(error?.reason == .notFound && error?.explanation.contains("already") == true)
            await outbox.drain()
            #expect(source.writes.count == 2)
        }
    }

    @Test func resolutionFollowsPendingWritesOfTheEntity() async throws {
        try await run { [self] repository, outbox in
            try await overtake(repository, outbox)
            let conflict = try await onlyConflict(repository)
            _ = try await repository.entity(2)
            source.goOffline()
            try await repository.update(2) { $0.author = 9 }
            try await repository.resolve(conflict, .merged(Remark(id: 2, author: 8, text: "both")))
            #expect(try await repository.entity(2).value == Remark(id: 2, author: 9, text: "both"))
            source.goOffline(false)
            outbox.retryNow()
            await outbox.drain()
            #expect(source.remark(2) == Remark(id: 2, author: 9, text: "both"))
            #expect(source.writes.suffix(2) == [#"PUT 2 "v2""#, #"PUT 2 "v3""#])
        }
    }

    /// The user has seen the second version. The pending update is for the third.
    @Test func resolutionIsRejectedAfterAWriteForAnotherVersion() async throws {
        try await run { [self] repository, outbox in
            try await overtake(repository, outbox)
            let conflict = try await onlyConflict(repository)
            source.put(Remark(id: 2, author: 8, text: "newest"))
            _ = try await repository.entity(2, .upstreamOnly)
            source.goOffline()
            try await repository.update(2) { $0.author = 9 }
            let error = await #expect(throws: RepositoryError.self) { try await repository.resolve(conflict, .mine) }
            #expect(error?.reason == .unavailable && error?.explanation.contains("pending") == true)
            source.goOffline(false)
            outbox.retryNow()
            await outbox.drain()
            #expect(source.remark(2) == Remark(id: 2, author: 9, text: "newest"))
            // Now the upstream has a version that the conflict does not contain.
            try await repository.resolve(try await onlyConflict(repository), .mine)
            await outbox.drain()
            #expect(source.remark(2)?.text == "newest")
            #expect(try await onlyConflict(repository).versions.theirs?.text == "newest")
        }
    }

    @Test func resolutionIsRejectedAfterADeletion() async throws {
        try await run { [self] repository, outbox in
            try await overtake(repository, outbox)
            let conflict = try await onlyConflict(repository)
            _ = try await repository.entity(2)
            source.goOffline()
            try await repository.delete(2)
            let error = await #expect(throws: RepositoryError.self) { try await repository.resolve(conflict, .mine) }
            #expect(error?.reason == .notFound)
            #expect(try await repository.conflicts().count == 1)
        }
    }

    @Test func resolutionUsesTheStoredConflictAndNotTheCallersCopy() async throws {
        try await run { [self] repository, outbox in
            try await overtake(repository, outbox)
            let kept = try await onlyConflict(repository)
            let copy = UnresolvedConflict(
                id: kept.id,
                entityID: kept.entityID,
                refusedAt: kept.refusedAt,
                versions: kept.versions
            )
            try await repository.resolve(copy, .mine)
            await outbox.drain()
            #expect(source.writes.last == #"PUT 2 "v2""#)
        }
    }

    /// The second resolution fails, because the conflict is already resolved.
    @Test(arguments: 0..<10) func oneOfTwoConcurrentResolutionsWins(keySeed: UInt64) async throws {
        try await run(keySeed: keySeed) { [self] repository, outbox in
            try await overtake(repository, outbox)
            let conflict = try await onlyConflict(repository)
            let results = await withTaskGroup(of: RepositoryError.Reason?.self) { group in
                let merged = Remark(id: 2, author: 7, text: "both")
                for resolution in [ConflictResolution<Remark>.mine, .theirs, .merged(merged)] {
                    group.addTask {
                        do throws(RepositoryError) {
                            try await repository.resolve(conflict, resolution)
                            return nil
                        } catch {
                            return error.reason
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.filter { $0 == nil }.count == 1 && results.filter { $0 == .notFound }.count == 2)
            await outbox.drain()
            #expect(source.writes.count <= 2)
            #expect(try await repository.conflicts().isEmpty)
        }
    }

    @Test func theirsRuleAppliesToADeletedEntity() async throws {
        try await run(Editing(.put, onConflict: .theirs)) { [self] repository, outbox in
            try await deleteThere(repository, outbox)
            #expect(try await outbox.contents().deadLetters.isEmpty && outbox.pending.isEmpty)
        }
    }

    @Test func conflictingVersionsThatDoNotFitAreNotKept() async throws {
        let policy = OutboxPolicy(maximumDeadLetterBytes: 50)
        let outbox = try stage.outbox(source, store: store, policy: policy)
        let repository = try Repository.versioned(source, outbox: outbox, timer: stage.timer)
        try await stage.scheduler.run { [self] in
            try await outbox.open(handlers: [repository.handler])
            try await overtake(repository, outbox)
            let letter = try #require(try await outbox.contents().deadLetters.first)
            #expect(letter.conflict == nil && letter.write != nil)
            #expect(try await repository.conflicts().isEmpty)
            #expect(outbox.status.deadLetterBytes == letter.byteCount)
            await repository.close()
            await outbox.close()
        }
    }

    // MARK: Deletions

    @Test(arguments: [true, false]) func conflictOfADeletionIsResolved(isMine: Bool) async throws {
        try await run { [self] repository, outbox in
            try await overtake(repository, outbox) { try await $0.delete(2) }
            let conflict = try await onlyConflict(repository)
            #expect(conflict.versions.mine == nil && conflict.versions.theirs == theirs)
            try await repository.resolve(conflict, isMine ? .mine : .theirs)
            await outbox.drain()
            #expect(source.remark(2) == (isMine ? nil : theirs))
            #expect(source.writes == (isMine ? [#"DELETE 2 "v1""#, #"DELETE 2 "v2""#] : [#"DELETE 2 "v1""#]))
            #expect(try await repository.conflicts().isEmpty)
        }
    }

    @Test(arguments: [Editing<Remark>.Update.put, .patch])
    func entityDeletedAtTheUpstreamCanOnlyStayDeleted(update: Editing<Remark>.Update) async throws {
        try await run(Editing(update)) { [self] repository, outbox in
            try await deleteThere(repository, outbox)
            let conflict = try await onlyConflict(repository)
            #expect(conflict.versions.mine == mine && conflict.versions.theirs == nil)
            let error = await #expect(throws: RepositoryError.self) { try await repository.resolve(conflict, .mine) }
            #expect(error?.reason == .notFound)
            #expect(try await repository.conflicts().count == 1)
            try await repository.resolve(conflict, .theirs)
            #expect(try await repository.conflicts().isEmpty && outbox.pending.isEmpty)
        }
    }
}
