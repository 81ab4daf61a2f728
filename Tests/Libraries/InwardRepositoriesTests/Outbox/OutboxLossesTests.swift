import InwardCore
import InwardFetching
import InwardTesting
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Tests of an outbox whose store has lost records to damage.
@Suite(.timeLimit(.minutes(5)))
struct OutboxLossesTests {
    private let stage = OutboxStage()

    /// Accepts writes that a later process finds in the store.
    private func leave(_ writes: [OutboxWrite]) async throws -> [OutboxEntry] {
        let outbox = try stage.outbox(StubDataFetcher(failing: .unreachable))
        try await outbox.open(handlers: [stage.handler])
        let entries = try await outbox.accept(writes)
        await outbox.close()
        return entries
    }

    private func lostErrors() -> [UndeliverableEntryError] {
        stage.errors.errors.compactMap { $0 as? UndeliverableEntryError }
    }

    @Test func lostWriteHoldsTheLaterWritesOfItsSubjectUntilItIsDiscarded() async throws {
        let stage = stage
        let upstream = stage.upstream()
        try await stage.scheduler.run {
            let entries = try await leave([
                OutboxStage.write(["7"], "1"), OutboxStage.write(["7"], "2"), OutboxStage.write(["8"], "3"),
            ])
            let outbox = try stage.outbox(upstream, keySeed: 2)
            let key = OutboxEntryName(entries[0]).key(under: outbox.records.entries)
            stage.store.lose(key)
            try await outbox.open(handlers: [stage.handler])
            #expect(lostErrors() == [UndeliverableEntryError(key, .lost)])
            try await outbox.settlement(of: entries[2])
            let later = try await outbox.accept([OutboxStage.write(["7"], "4")])[0]
            #expect(upstream.done.map(\.text) == ["3"])
            #expect(try await outbox.contents().pending.map(\.state) == [.undeliverable(.lost), .waiting, .waiting])
            #expect(try await outbox.contents().pending.map(\.attempts) == [0, 0, 0])
            #expect(try await outbox.contents() == OutboxContents(of: stage.store))
            #expect(outbox.status.undeliverableCount == 1)
            #expect(try await outbox.discard(entries[0].idempotencyKey))
            try await outbox.settlement(of: later)
            await outbox.close()
            #expect(try await stage.store.losses(under: []).keys == [])
        }
        #expect(upstream.done.map(\.text) == ["3", "2", "4"])
        #expect(stage.handler.pending == [])
    }

    @Test func writeAcceptedAfterALossComesAfterTheLostOne() async throws {
        let stage = stage
        try await stage.scheduler.run {
            let entries = try await leave([OutboxStage.write(["7"]), OutboxStage.write(["8"])])
            let outbox = try stage.outbox(stage.upstream(), keySeed: 2)
            stage.store.lose(OutboxEntryName(entries[1]).key(under: outbox.records.entries))
            try await outbox.open(handlers: [stage.handler])
            #expect(try await outbox.accept([OutboxStage.write(["9"])])[0].sequence == 2)
            await outbox.close()
        }
    }

    @Test func errorOfAHeldWriteNamesItAndSaysWhatToDo() {
        let lost = UndeliverableEntryError(["outbox", "7"], .lost)
        #expect(lost.description.hasPrefix("The write stored under outbox/7 is not delivered: it was lost"))
        let unknown = UndeliverableEntryError(["outbox"], .unknownLosses)
        #expect(unknown.description.hasPrefix("The store lost records that it cannot name, and some may have been"))
        #expect(unknown.description.hasSuffix("until “\(OutboxItem.unknownLossesID)” is discarded"))
    }

    @Test(arguments: ["-1", "x", ""]) func invalidCountOfLossesHoldsNothing(count: String) async throws {
        let store = InMemoryRecordStore()
        try await store.commit([.keep(StoredRecord(Array(count.utf8)), OutboxRecords(prefix: ["outbox"]).losses)])
        #expect(try await OutboxContents(of: store).pending.isEmpty)
    }

    @Test func writeWithALostNoteMayHaveArrived() async throws {
        let stage = stage
        try await stage.scheduler.run {
            let entry = try await leave([OutboxStage.write(["7"])])[0]
            let outbox = try stage.outbox(stage.upstream(.turnedAway(DataResponse(status: 409))), keySeed: 2)
            stage.store.lose(OutboxEntryName(entry).key(under: outbox.records.attempts))
            stage.store.lose(["outbox", "attempts", "of", "nothing"])
            try await outbox.open(handlers: [stage.handler])
            try await stage.timer.sleep(for: .milliseconds(500))
            #expect(try await outbox.contents().pending.map(\.state) == [.outcomeUnknown])
            try await outbox.settlement(of: entry)
            await outbox.close()
            #expect(try await stage.store.losses(under: []).keys == [])
        }
    }

    @Test func unknownLossesHoldAllRemainingWritesUntilTheyAreAcknowledged() async throws {
        let stage = stage
        let upstream = stage.upstream()
        try await stage.scheduler.run {
            let entries = try await leave([OutboxStage.write(["7"], "1"), OutboxStage.write(["8"], "2")])
            stage.store.loseUnknown()
            let outbox = try stage.outbox(upstream, keySeed: 2)
            try await outbox.open(handlers: [stage.handler])
            #expect(lostErrors() == [UndeliverableEntryError(["outbox"], .unknownLosses)])
            let more = try await outbox.accept([OutboxStage.write(["7"], "3"), OutboxStage.write(["9"], "4")])
            try await outbox.settlement(of: more[1])
            #expect(upstream.done.map(\.text) == ["4"])
            let contents = try await outbox.contents()
            #expect(
                contents.pending.map(\.state) == [
                    .undeliverable(.behindLosses), .undeliverable(.behindLosses), .waiting,
                    .undeliverable(.unknownLosses),
                ]
            )
            #expect(outbox.status == contents.status)
            await outbox.close()

            // The losses are still not acknowledged.
            let next = try stage.outbox(upstream, keySeed: 3)
            try await next.open(handlers: [stage.handler])
            #expect(next.status.undeliverableCount == 4)
            #expect(try await next.discard(OutboxItem.unknownLossesID))
            #expect(try await !next.discard(OutboxItem.unknownLossesID))
            for entry in entries + [more[0]] { try await next.settlement(of: entry) }
            #expect(next.status == OutboxStatus())
            await next.close()
            #expect(try await OutboxContents(of: stage.store).pending == [])
        }
        #expect(Set(upstream.done.map(\.text)) == ["1", "2", "3", "4"])
        #expect(upstream.done.filter { $0.url.lastPathComponent == "7" }.map(\.text) == ["1", "3"])
    }

    @Test func writeHeldBecauseOfUnknownLossesCanBeDiscarded() async throws {
        let stage = stage
        try await stage.scheduler.run {
            let entry = try await leave([OutboxStage.write(["7"])])[0]
            stage.store.loseUnknown()
            let outbox = try stage.outbox(stage.upstream(), keySeed: 2)
            try await outbox.open(handlers: [stage.handler])
            #expect(stage.handler.pending.map(\.idempotencyKey) == [entry.idempotencyKey])
            let denied = await #expect(throws: RecordStoreError.self) { try await outbox.retry(entry.idempotencyKey) }
            #expect(denied?.reason == .denied)
            #expect(try await outbox.discard(entry.idempotencyKey))
            #expect(stage.handler.pending == [])
            await outbox.close()
        }
    }

    @Test func unknownLossWithoutPendingWritesIsReportedOnceAndHoldsNothing() async throws {
        let stage = stage
        try await stage.scheduler.run {
            stage.store.loseUnknown()
            let outbox = try stage.outbox(stage.upstream(), keySeed: 2)
            try await outbox.open(handlers: [stage.handler])
            #expect(lostErrors().map(\.reason) == [.unknownLosses])
            #expect(outbox.status == OutboxStatus())
            await outbox.close()
            let entry = try await leave([OutboxStage.write(["7"])])[0]
            let last = try stage.outbox(stage.upstream(), keySeed: 3)
            try await last.open(handlers: [stage.handler])
            try await last.settlement(of: entry)
            await last.close()
            #expect(lostErrors().count == 1)
        }
    }

    @Test func itemThatRepresentsUnknownLossesCannotBeRetried() async throws {
        let stage = stage
        try await stage.scheduler.run {
            _ = try await leave([OutboxStage.write(["7"])])
            stage.store.loseUnknown()
            let outbox = try stage.outbox(stage.upstream(), keySeed: 2)
            try await outbox.open(handlers: [stage.handler])
            let error = await #expect(throws: RecordStoreError.self) {
                try await outbox.retry(OutboxItem.unknownLossesID)
            }
            #expect(error?.reason == .denied)
            await outbox.close()
        }
    }

    @Test func lostDeadLetterIsListedUntilItIsDiscarded() async throws {
        let stage = stage
        try await stage.scheduler.run {
            let outbox = try stage.outbox(stage.upstream(.turnedAway(DataResponse(status: 404))))
            try await outbox.open(handlers: [stage.handler])
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            await #expect(throws: RepositoryError.self) { try await outbox.settlement(of: entry) }
            await outbox.close()
            stage.store.lose(OutboxEntryName(entry).key(under: outbox.records.dead))
            let next = try stage.outbox(stage.upstream(), keySeed: 2)
            try await next.open(handlers: [stage.handler])
            #expect(try await next.contents().deadLetters.map(\.state) == [.undeliverable(.lost)])
            #expect(next.status.deadLetterCount == 1)
            await #expect(throws: RecordStoreError.self) { try await next.retry(entry.idempotencyKey) }
            #expect(try await next.discard(entry.idempotencyKey))
            #expect(next.status.deadLetterCount == 0)
            #expect(next.status.deadLetterBytes == 0)
            #expect(try await stage.store.losses(under: []).keys == [])
            await next.close()
        }
    }
}
