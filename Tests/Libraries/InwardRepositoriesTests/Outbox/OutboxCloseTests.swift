import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct OutboxCloseTests {
    private let stage = OutboxStage()

    @Test func closingCancelsUnansweredAttemptsAndKeepsTheirWrites() async throws {
        let stage = stage
        let upstream = stage.upstream(latency: .seconds(10))
        let outbox = try stage.outbox(upstream)
        let next = try stage.outbox(upstream, keySeed: 2)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entries = try await outbox.accept([OutboxStage.write(["7"]), OutboxStage.write(["7"], "2")])
            async let ending = Result { () async throws(RepositoryError) in
                try await outbox.settlement(of: entries[0])
            }
            // The first write is being sent, and the upstream has not done it.
            try await stage.timer.sleep(for: .seconds(1))
            #expect(upstream.requests.count == 1)
            await outbox.close()
            #expect(stage.elapsed == .seconds(1))
            #expect(await ending.failure?.reason == .closed)
            #expect(outbox.pending == entries)
            #expect(stage.handler.events.count == 2)
            let deliveries = outbox.state.withLock(\.deliveries.count)
            #expect(deliveries == 0)
            #expect(stage.timer.count == 0)

            try await next.open(handlers: [stage.handler])
            #expect(next.pending == entries)
            for entry in entries { try await next.settlement(of: entry) }
            await next.close()
        }
        #expect(upstream.done.map(\.text) == ["1", "2"])
        #expect(Set(upstream.requests.map { $0.headerFields[.idempotencyKey] }).count == 2)
        #expect(stage.errors.errors.isEmpty)
    }

    @Test func nothingIsRetriedAfterClosing() async throws {
        let stage = stage
        let upstream = stage.upstream(.lost, .lost, .lost)
        let outbox = try stage.outbox(upstream)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            try await outbox.accept([OutboxStage.write(["7"])])
            try await stage.timer.sleep(for: .milliseconds(2_500))
            #expect(upstream.requests.count == 2)
            await outbox.close()
            #expect(stage.timer.count == 0)
            try await stage.timer.sleep(for: .seconds(3_600))
            await outbox.close()
        }
        try await stage.scheduler.drain()
        #expect(upstream.requests.count == 2)
        #expect(outbox.pending.map(\.attempts) == [2])
    }

    @Test func closingWaitsForTheSettlementOfAnsweredWrites() async throws {
        let stage = stage
        let upstream = stage.upstream()
        let slow = SlowRecordStore(stage.store, timer: stage.timer)
        let outbox = try stage.outbox(upstream, store: slow)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            while upstream.done.isEmpty { try await stage.timer.sleep(for: .milliseconds(100)) }
            // The write is being settled, which takes a while.
            try await stage.timer.sleep(for: .milliseconds(100))
            #expect(outbox.pending == [entry])
            await outbox.close()
            #expect(outbox.pending == [])
            #expect(try await stage.store.records(under: outbox.records.entries).isEmpty)
            #expect(stage.handler.events.last == .committed(entry))
        }
    }

    @Test func closingWaitsForWritesBeingAccepted() async throws {
        let stage = stage
        let slow = SlowRecordStore(stage.store, timer: stage.timer)
        let outbox = try stage.outbox(stage.upstream(latency: .seconds(60)), store: slow)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            async let accepted = outbox.accept([OutboxStage.write(["7"])])
            try await stage.timer.sleep(for: .milliseconds(100))
            await outbox.close()
            #expect(try await stage.store.records(under: outbox.records.entries).count == 1)
            #expect(try await accepted == outbox.pending)
        }
        #expect(outbox.counts.attempts == 0)
    }

    @Test func closingReleasesTheHandlers() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream())
        var handler: RecordingOutboxHandler? = RecordingOutboxHandler()
        weak let held = handler
        try await outbox.open(handlers: [handler])
        handler = nil
        #expect(held != nil)
        await outbox.close()
        #expect(held == nil)
    }
}
