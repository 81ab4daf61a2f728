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

@Suite(.timeLimit(.minutes(5)))
struct OutboxOpeningTests {
    private let stage = OutboxStage()

    /// Leaves entries in the store, like a process that never reached its upstream.
    private func leave(_ writes: [OutboxWrite], handlers: [any OutboxHandler]) async throws -> [OutboxEntry] {
        let outbox = try stage.outbox(StubDataFetcher(failing: .unreachable))
        try await outbox.open(handlers: handlers)
        let entries = try await outbox.accept(writes)
        await outbox.close()
        return entries
    }

    @Test func earlierEntriesAreShownAndDeliveredWithTheirIdempotencyKeys() async throws {
        let stage = stage
        let upstream = stage.upstream()
        try await stage.scheduler.run {
            let entries = try await leave(
                [OutboxStage.write(["7"]), OutboxStage.write(["8"]), OutboxStage.write(["7"], "2")],
                handlers: [stage.handler]
            )
            let handler = RecordingOutboxHandler()
            let outbox = try stage.outbox(upstream, keySeed: 2)
            try await outbox.open(handlers: [handler])
            #expect(handler.pending.map(\.idempotencyKey) == entries.map(\.idempotencyKey))
            #expect(handler.pending.map(\.write) == entries.map(\.write))
            #expect(handler.pending.map(\.acceptedAt) == entries.map(\.acceptedAt))
            let more = try await outbox.accept([OutboxStage.write(["7"], "3")])[0]
            #expect(more.sequence == 3)
            for entry in entries + [more] { try await outbox.settlement(of: entry) }
            await outbox.close()
            let keys = upstream.done.filter { $0.url.lastPathComponent == "7" }.map { $0.headerFields[.idempotencyKey] }
            #expect(keys == [entries[0], entries[2], more].map(\.idempotencyKey))
            #expect(handler.pending == [])
        }
    }

    /// An entity that is its own record.
    private struct Tag: RecordDTO, Identifiable {
        static let listName = "tags"
        let id: Int
    }

    @Test func repositoryWithoutAHandlerIsIgnored() async throws {
        let stage = stage
        try await stage.scheduler.run {
            let upstream: Upstream = try .example(StubDataFetcher(failing: .unreachable))
            let tags = Repository(Endpoint(Tag.self, at: "tags"), upstream: upstream, timer: stage.timer)
            #expect(tags.handler == nil)
            let outbox = try stage.outbox(StubDataFetcher(failing: .unreachable))
            try await outbox.open(handlers: [tags.handler, stage.handler])
            let member = try await outbox.join(handlers: [tags.handler])
            _ = try await outbox.accept([OutboxStage.write(["7"])])
            #expect(stage.handler.pending.count == 1)
            outbox.leave(member)
            await outbox.close()
        }
    }

    @Test func entryWithoutAHandlerIsHeldAndReported() async throws {
        let stage = stage
        let upstream = stage.upstream()
        let notes = RecordingOutboxHandler("notes")
        try await stage.scheduler.run {
            let entries = try await leave(
                [
                    OutboxStage.write(["n"], endpoint: "notes"), OutboxStage.write(["n"], "2"),
                    OutboxStage.write(["7"]),
                ],
                handlers: [stage.handler, notes]
            )
            let outbox = try stage.outbox(upstream, keySeed: 2)
            try await outbox.open(handlers: [stage.handler])
            try await outbox.settlement(of: entries[2])
            await outbox.close()
            #expect(outbox.pending.map(\.idempotencyKey) == entries.prefix(2).map(\.idempotencyKey))
            let told = stage.errors.errors.compactMap { $0 as? UndeliverableEntryError }
            #expect(told.map(\.reason) == [.unsettled(endpoint: "notes")])
            // The entry after the held one is not sent, so the order is kept.
            #expect(upstream.requests.map(\.url.lastPathComponent) == ["7"])

            let last = try stage.outbox(upstream, keySeed: 3)
            try await last.open(handlers: [stage.handler, notes])
            for entry in entries { try await last.settlement(of: entry) }
            await last.close()
        }
        #expect(upstream.done.map(\.text) == ["1", "1", "2"])
    }

    @Test(arguments: [
        (#"{"version":4,"what":[]}"#, UndeliverableEntryError.Reason.newer(version: 4)),
        ("{", .damaged("it is not valid JSON; it begins with “{”")),
        (#"{"version":1}"#, .damaged("its field “endpoint” is missing")),
    ])
    func unreadableEntryKeepsItsPlaceAndIsReported(text: String, reason: UndeliverableEntryError.Reason)
        async throws
    {
        let stage = stage
        let upstream = stage.upstream()
        let records = OutboxRecords(prefix: ["outbox"])
        let name = OutboxEntryName(sequence: 41, idempotencyKey: "k", subject: ["7"])
        let key = name.key(under: records.entries)
        try await stage.scheduler.run {
            try await stage.store.commit([.keep(StoredRecord(Array(text.utf8)), key)])
            let outbox = try stage.outbox(upstream)
            try await outbox.open(handlers: [stage.handler])
            #expect((stage.errors.errors as? [UndeliverableEntryError]) == [UndeliverableEntryError(key, reason)])
            let entries = try await outbox.accept([OutboxStage.write(["7"]), OutboxStage.write(["8"])])
            #expect(entries.map(\.sequence) == [42, 43])
            try await outbox.settlement(of: entries[1])
            #expect(outbox.pending == [entries[0]])
            await outbox.close()
            #expect(try await stage.store.record(for: key) == StoredRecord(Array(text.utf8)))
        }
        #expect(upstream.requests.map(\.url.lastPathComponent) == ["8"])
    }

    @Test(arguments: ["9223372036854775807", "-9223372036854775808", "many"])
    func extremeNumberOfAttemptsDoesNotPreventDelivery(text: String) async throws {
        let stage = stage
        let upstream = stage.upstream(.lost)
        let outbox = try stage.outbox(upstream, keySeed: 2)
        try await stage.scheduler.run {
            let entry = try await leave([OutboxStage.write(["7"])], handlers: [stage.handler])[0]
            let key = OutboxEntryName(entry).key(under: outbox.records.attempts)
            try await stage.store.commit([.keep(StoredRecord(Array(text.utf8)), key)])
            try await outbox.open(handlers: [stage.handler])
            try await outbox.settlement(of: entry)
            await outbox.close()
        }
        #expect(upstream.done.count == 1)
    }

    @Test func misnamedEntryIsKeptAndReported() async throws {
        let stage = stage
        let keys: [RecordKey] = [
            ["outbox", "entries", "x", "k", "7"], ["outbox", "entries", "0000000000000000001"],
            ["outbox", "entries", "9223372036854775807", "k"], ["outbox", "entries", "1", "k"],
        ]
        try await stage.store.commit(keys.map { .keep(StoredRecord([]), $0) })
        let outbox = try stage.outbox(stage.upstream())
        try await outbox.open(handlers: [stage.handler])
        #expect(outbox.status.pendingCount == keys.count && outbox.status.undeliverableCount == keys.count)
        #expect(try await stage.store.records(under: outbox.records.entries).count == keys.count)
        for key in keys { #expect(try await outbox.discard(key.description)) }
        #expect(outbox.status == OutboxStatus())
        await outbox.close()
        let told = stage.errors.errors.compactMap { $0 as? UndeliverableEntryError }
        #expect(Set(told.map(\.key)) == Set(keys))
        #expect(try await stage.store.records(under: outbox.records.entries).isEmpty)
    }

    @Test(arguments: [false, true]) func retryingOrDiscardingOpensAJoinedOutbox(isDiscarded: Bool) async throws {
        let stage = stage
        let upstream = stage.upstream()
        try await stage.scheduler.run {
            let left = try await leave(
                [OutboxStage.write(["7"]), OutboxStage.write(["7"], "2")],
                handlers: [stage.handler]
            )
            let outbox = try stage.outbox(upstream, keySeed: 2)
            _ = try await outbox.join(handlers: [stage.handler])
            if isDiscarded {
                #expect(try await outbox.discard(left[1].idempotencyKey))
            } else {
                #expect(try await outbox.retry(left[1].idempotencyKey)?.idempotencyKey == left[1].idempotencyKey)
                try await outbox.settlement(of: left[1])
            }
            await outbox.close()
        }
        if !isDiscarded { #expect(upstream.done.map(\.text) == ["1", "2"]) }
    }

    @Test func openingCanBeRetriedAfterAFailure() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream())
        let failure = RecordStoreError(.unavailable, explanation: "It is not there.")
        stage.store.fail(with: failure)
        await #expect(throws: failure) { try await outbox.open(handlers: [stage.handler]) }
        stage.store.fail(with: nil)
        try await outbox.open(handlers: [stage.handler])
        await outbox.close()
    }

    /// A store that has no room for its first commit.
    private struct FullRecordStore: RecordStoreDecorator {
        let base: any RecordStore
        let once = Once()

        func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
            guard !once.isFirst() else { throw RecordStoreError(.full, explanation: "There is no room.") }
            try await base.commit(changes)
        }
    }

    @Test func outboxThatFailedToOpenOwnsNothing() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream(), store: FullRecordStore(base: stage.store))
        let error = await #expect(throws: RecordStoreError.self) { try await outbox.open(handlers: [stage.handler]) }
        #expect(error?.reason == .full)
        let other = try stage.outbox(stage.upstream(), keySeed: 2)
        _ = try await other.join(handlers: [RecordingOutboxHandler()])
        #expect(try await other.openUnlessOwned() == nil)
        await other.close()
        // The next attempt to open it can succeed.
        #expect(try await outbox.openUnlessOwned() == nil)
        await outbox.close()
    }

    @Test func nextWritesOpenAnOutboxThatFailedToOpen() async throws {
        let stage = stage
        let upstream = stage.upstream()
        let slow = SlowRecordStore(stage.store, timer: stage.timer)
        try await stage.scheduler.run {
            let left = try await leave([OutboxStage.write(["7"])], handlers: [stage.handler])
            let outbox = try stage.outbox(upstream, store: slow, keySeed: 2)
            let full = RecordStoreError(.full, explanation: "There is no room.")
            stage.store.fail(with: full)
            await #expect(throws: full) { try await outbox.open(handlers: [stage.handler]) }
            // A writer gets the error that prevents opening.
            await #expect(throws: full) { try await outbox.accept([OutboxStage.write(["7"], "2")]) }
            stage.store.fail(with: nil)
            async let second = outbox.accept([OutboxStage.write(["7"], "2")])
            async let third = outbox.accept([OutboxStage.write(["8"], "3")])
            for entry in try await left + second + third { try await outbox.settlement(of: entry) }
            await outbox.close()
            await #expect(throws: RecordStoreError.self) { try await outbox.accept([OutboxStage.write(["9"])]) }
        }
        #expect(upstream.done.filter { $0.url.lastPathComponent == "7" }.map(\.text) == ["1", "2"])
        #expect(upstream.done.count == 3)
    }

    @Test func acceptedWriteCountsOnceTowardTheLimit() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream(latency: .seconds(1)))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            var counts: [Int] = []
            _ = try await outbox.accept([OutboxStage.write(["7"]), OutboxStage.write(["8"])], with: []) { _ in
                counts.append(outbox.state.withLock { $0.partitions.count + $0.writesUnderWay })
            }
            #expect(counts == [2])
            #expect(outbox.state.withLock(\.writesUnderWay) == 0)
            await outbox.close()
        }
    }

    @Test func pendingWritesAreLimited() async throws {
        let stage = stage
        let upstream = stage.upstream(latency: .seconds(1))
        let slow = SlowRecordStore(stage.store, timer: stage.timer)
        let outbox = try stage.outbox(
            upstream,
            store: slow,
            policy: OutboxPolicy(maximumPending: 2, jitter: Jitter { 1 })
        )
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            async let first = outbox.accept([OutboxStage.write(["7"])])
            try await stage.timer.sleep(for: .milliseconds(100))
            // One write is being stored, and there is room for one more.
            for count in [2, 3] {
                let writes = [OutboxWrite](repeating: OutboxStage.write(["8"]), count: count)
                let error = await #expect(throws: RecordStoreError.self) { try await outbox.accept(writes) }
                #expect(error?.reason == .full)
            }
            let second = try await outbox.accept([OutboxStage.write(["7"], "2")])
            await #expect(throws: RecordStoreError.self) { try await outbox.accept([OutboxStage.write(["7"], "3")]) }
            for entry in try await first + second { try await outbox.settlement(of: entry) }
            let third = try await outbox.accept([OutboxStage.write(["7"], "3")])
            for entry in third { try await outbox.settlement(of: entry) }
            await outbox.close()
        }
        #expect(upstream.done.map(\.text) == ["1", "2", "3"])
    }

    @Test func closingWaitsForOpening() async throws {
        let stage = stage
        let slow = SlowRecordStore(stage.store, timer: stage.timer)
        let outbox = try stage.outbox(stage.upstream(), store: slow)
        try await stage.scheduler.run {
            async let opening = Result { () async throws(RecordStoreError) in
                try await outbox.open(handlers: [stage.handler])
            }
            try await stage.timer.sleep(for: .milliseconds(100))
            await outbox.close()
            // From now on, the closed outbox does not take over from another one.
            #expect(stage.store.commits.count == 1)
            #expect(await opening.failure?.reason == .closed)
            #expect(stage.store.commits.count == 1)
        }
    }

    @Test func outboxClosedBeforeItOwnsTheRecordsTakesOverNothing() async throws {
        let stage = stage
        let slow = SlowRecordStore(stage.store, timer: stage.timer, claimsLate: true)
        let outbox = try stage.outbox(stage.upstream(), store: slow)
        try await stage.scheduler.run {
            async let opening = Result { () async throws(RecordStoreError) in
                try await outbox.open(handlers: [stage.handler])
            }
            try await stage.timer.sleep(for: .milliseconds(100))
            await outbox.close()
            #expect(await opening.failure?.reason == .closed)
            #expect(stage.store.commits == [])
            // The next outbox can own the records.
            let next = try stage.outbox(stage.upstream(), keySeed: 2)
            try await next.open(handlers: [stage.handler])
            await next.close()
        }
    }

    @Test func attemptNotesWithoutAnEntryAreRemoved() async throws {
        let stage = stage
        let records = OutboxRecords(prefix: ["outbox"])
        let key = OutboxEntryName(sequence: 1, idempotencyKey: "k", subject: ["7"]).key(under: records.attempts)
        try await stage.store.commit([.keep(StoredRecord([49]), key)])
        let outbox = try stage.outbox(stage.upstream())
        try await outbox.open(handlers: [stage.handler])
        await outbox.close()
        #expect(try await stage.store.records(under: records.attempts).isEmpty)
    }
}
