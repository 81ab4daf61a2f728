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

/// What becomes of a write if the upstream has another version.
extension RepositoryEditingOutboxTests {
    /// Updates the second remark, and changes it at the upstream before the update is sent.
    private func overtake(_ repository: Repository<Remark>, _ outbox: Outbox) async throws -> OutboxEntry {
        _ = try await repository.entity(2)
        source.goOffline()
        try await repository.update(2) { $0.text = "mine" }
        let entry = try #require(outbox.pending.first)
        source.put(Remark(id: 2, author: 8, text: "theirs"))
        await deliver(outbox)
        return entry
    }

    @Test func conflictIsADeadLetterUnlessARuleDecides() async throws {
        try await run { [self] repository, outbox in
            let entry = try await overtake(repository, outbox)
            let refusal = await #expect(throws: RepositoryError.self) { try await outbox.settlement(of: entry) }
            #expect(refusal?.reason == .conflict)
            #expect(try await repository.entity(2).value.text == "theirs")
            let letter = try #require(try await outbox.contents().deadLetters.first)
            let mine = try RemarkDTO.decoded(from: Data(letter.write?.body ?? [])).entity()
            #expect(mine == Remark(id: 2, author: 7, text: "mine"))
            #expect(letter.cause?.contains("412") == true)
        }
    }

    @Test func mineRuleSendsTheWriteAgainWithTheirTag() async throws {
        try await run(Editing(.patch, onConflict: .mine)) { [self] repository, outbox in
            let entry = try await overtake(repository, outbox)
            try await outbox.settlement(of: entry)
            #expect(source.remark(2) == Remark(id: 2, author: 8, text: "mine"))
            #expect(source.writes == [#"PATCH 2 "v1""#, #"PATCH 2 "v2""#])
            let keys = source.requests.compactMap { $0.headerFields[.idempotencyKey] }
            #expect(keys == [entry.idempotencyKey, entry.idempotencyKey + "-1"])
            #expect(try await outbox.contents().deadLetters.isEmpty && stage.errors.errors.isEmpty)
        }
    }

    @Test func theirsRuleDropsTheWrite() async throws {
        try await run(Editing(.put, onConflict: .theirs)) { [self] repository, outbox in
            let entry = try await overtake(repository, outbox)
            try await outbox.settlement(of: entry)
            #expect(try await repository.entity(2).value.text == "theirs")
            #expect(try await outbox.contents().deadLetters.isEmpty && stage.errors.errors.isEmpty)
            #expect(source.writes.count == 1 && outbox.counts.delivered == 1)
        }
    }

    @Test func mergeRuleSendsTheMergedEntity() async throws {
        let merge = ConflictRule<Remark>.merge { conflict in
            conflict.theirs.map {
                Remark(id: 2, author: $0.author, text: "\(conflict.mine?.text ?? "") and \($0.text)")
            }
        }
        try await run(Editing(.put, onConflict: merge)) { [self] repository, outbox in
            _ = try await overtake(repository, outbox)
            #expect(source.remark(2) == Remark(id: 2, author: 8, text: "mine and theirs"))
            #expect(try await repository.entity(2).value.text == "mine and theirs")
        }
    }

    /// A write after a conflict is for the version that resolved the conflict.
    @Test func writeAfterAMergeKeepsIt() async throws {
        let merge = ConflictRule<Remark>.merge { conflict in
            conflict.theirs.map { Remark(id: 2, author: $0.author, text: conflict.mine?.text ?? "") }
        }
        try await run(Editing(.put, onConflict: merge)) { [self] repository, outbox in
            _ = try await repository.entity(2)
            source.goOffline()
            try await repository.update(2) { $0.text = "mine" }
            try await repository.update(2) { $0.text += " and more" }
            source.put(Remark(id: 2, author: 8, text: "theirs"))
            await deliver(outbox)
            #expect(source.remark(2) == Remark(id: 2, author: 8, text: "mine and more"))
            #expect(source.writes == [#"PUT 2 "v1""#, #"PUT 2 "v2""#, #"PUT 2 "v3""#])
            #expect(try await outbox.contents().deadLetters.isEmpty)
        }
    }

    @Test func writeAfterAConflictConflictsToo() async throws {
        try await run { [self] repository, outbox in
            _ = try await repository.entity(2)
            source.goOffline()
            try await repository.update(2) { $0.text = "mine" }
            try await repository.update(2) { $0.author = 9 }
            source.put(Remark(id: 2, author: 8, text: "theirs"))
            await deliver(outbox)
            #expect(source.remark(2) == Remark(id: 2, author: 8, text: "theirs"))
            #expect(try await outbox.contents().deadLetters.count == 2)
        }
    }

    @Test func conflictsDoNotPauseOtherWrites() async throws {
        let policy = OutboxPolicy()
        for id in 4...policy.refusalsBeforePause + 5 { source.put(Remark(id: id, author: 7, text: "\(id)")) }
        try await run { [self] repository, outbox in
            let ids = source.remarks.map(\.id)
            for id in ids { _ = try await repository.entity(id) }
            source.goOffline()
            for id in ids {
                try await repository.update(id) { $0.text = "mine" }
                source.put(Remark(id: id, author: 8, text: "theirs"))
            }
            await deliver(outbox)
            #expect(try await outbox.contents().deadLetters.count == ids.count)
            #expect(outbox.status.pause == nil && source.writes.count == ids.count)
        }
    }

    @Test func ruleGivesUpAfterRepeatedConflicts() async throws {
        try await run(Editing(.put, onConflict: .mine)) { [self] repository, outbox in
            _ = try await repository.entity(2)
            // The upstream refuses for a reason other than the version.
            source.meet(.refused(409))
            try await repository.update(2) { $0.text = "mine" }
            await outbox.drain()
            #expect(source.writes.count == 1)
            source.omitTags()
            _ = try await repository.entity(3)
            source.meet(.refused(412), .refused(412), .refused(412), .refused(412), .refused(412), .refused(412))
            try await repository.update(3) { $0.text = "mine" }
            await outbox.drain()
            #expect(source.writes.count == 7)
            #expect(try await outbox.contents().deadLetters.count == 2)
        }
    }

    @Test func deletionConflictsToo() async throws {
        for (rule, text) in [(ConflictRule<Remark>.ask, "theirs"), (.theirs, "theirs"), (.mine, nil)] {
            source.put(Remark(id: 2, author: 7, text: "2"))
            try await run(Editing(.put, onConflict: rule)) { [self] repository, outbox in
                _ = try await repository.entity(2, .upstreamOnly)
                source.goOffline()
                try await repository.delete(2)
                source.put(Remark(id: 2, author: 8, text: "theirs"))
                await deliver(outbox)
                #expect(source.remark(2)?.text == text)
                let reading = try? await repository.entity(2)
                #expect(reading?.value.text == text)
            }
        }
    }

    @Test func deletionOfADeletedEntityIsNotAConflict() async throws {
        try await run(Editing(.put, onConflict: .mine)) { [self] repository, outbox in
            _ = try await repository.entities()
            source.goOffline()
            try await repository.update(2) { $0.text = "mine" }
            try await repository.delete(3)
            for id in [2, 3] { source.remove(id) }
            source.meet(.refused(409), .refused(409))
            await deliver(outbox)
            #expect(source.remarks.map(\.id) == [1] && source.writes.count == 2)
            #expect(try await outbox.contents().deadLetters.map { $0.write?.entityID } == ["2"])
            #expect(try await repository.entities().value.map(\.id) == [1])
        }
    }

    /// The conflict is decided when the upstream is available.
    @Test func conflictWaitsForTheUpstreamsVersion() async throws {
        try await run(Editing(.put, onConflict: .mine)) { [self] repository, outbox in
            _ = try await repository.entity(2)
            source.goOffline()
            try await repository.update(2) { $0.text = "mine" }
            source.put(Remark(id: 2, author: 8, text: "theirs"))
            source.goOffline(false)
            source.goOfflineAfterWrites(1)
            outbox.retryNow()
            try await stage.timer.sleep(for: .seconds(5))
            #expect(outbox.pending.count == 1 && outbox.counts.refused == 0)
            await deliver(outbox)
            #expect(source.remark(2)?.text == "mine")
        }
    }

    @Test func revisedWriteSurvivesARestart() async throws {
        try await run(Editing(.put, onConflict: .mine)) { [self] repository, outbox in
            _ = try await repository.entity(2)
            source.goOffline()
            try await repository.update(2) { $0.text = "mine" }
            source.put(Remark(id: 2, author: 8, text: "theirs"))
            source.goOffline(false)
            source.meet(.answered, .lost)
            outbox.retryNow()
            while source.writes.count < 2 { try await stage.timer.sleep(for: .milliseconds(100)) }
        }
        try await run(Editing(.put, onConflict: .mine), keySeed: 2) { [self] _, outbox in
            #expect(outbox.pending.map(\.write.revision) == [1])
            await outbox.drain()
            #expect(source.remark(2)?.text == "mine")
            #expect(source.writes == [#"PUT 2 "v1""#, #"PUT 2 "v2""#, #"PUT 2 "v2""#])
        }
    }

    /// The upstream ignores idempotency keys, so it refuses the repeat of a write that it has done.
    @Test func writeThatTheUpstreamHasDoneIsNotAConflict() async throws {
        try await run { [self] repository, outbox in
            _ = try await repository.entity(2)
            source.meet(.answerLost)
            try await repository.update(2) { $0.text = "mine" }
            await outbox.drain()
            #expect(source.writes == [#"PUT 2 "v1""#, #"PUT 2 "v1""#])
            #expect(source.remark(2)?.text == "mine" && outbox.counts.delivered == 1)
            #expect(try await outbox.contents().deadLetters.isEmpty)
            #expect(try await repository.entity(2).value.text == "mine")
        }
    }

    @Test(arguments: [Editing<Remark>.Update.put, .patch])
    func writeAfterALostResponseIsForTheResultingVersion(update: Editing<Remark>.Update) async throws {
        try await run(Editing(update)) { [self] repository, outbox in
            _ = try await repository.entity(2)
            source.goOffline()
            try await repository.update(2) { $0.text = "mine" }
            try await repository.update(2) { $0.author = 9 }
            source.meet(.answerLost)
            await deliver(outbox)
            #expect(source.remark(2) == Remark(id: 2, author: 9, text: "mine"))
            #expect(try await outbox.contents().deadLetters.isEmpty)
        }
    }
}
