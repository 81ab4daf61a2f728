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

@Suite(.timeLimit(.minutes(5)))
struct SessionOutboxTests {
    /// A store that never answers, as if a suspended process held its lock. It honors cancellation.
    private struct StuckRecordStore: RecordStoreDecorator {
        let base: any RecordStore

        func records(
            under key: RecordKey
        ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
            _ = await Promise<Void>().value(until: nil)
            throw RecordStoreError(.cancelled, explanation: "The task was cancelled.")
        }
    }

    private let stage = OutboxStage()

    /// Returns the share of the only session of an outbox.
    private func session(_ outbox: Outbox, behind earlier: Outbox? = nil) -> SessionOutbox {
        SessionOutbox(outbox, behind: earlier, executor: stage.scheduler.executor) { await outbox.close() }
    }

    /// Returns an open outbox whose upstream answers every write with the given status, and a write that is pending in it.
    private func left(answering status: DataResponse.Status = 503) async throws -> (Outbox, OutboxEntry) {
        let outbox = try stage.outbox(StubDataFetcher(DataResponse(status: status)), keySeed: 2)
        try await outbox.open(handlers: [RecordingOutboxHandler()])
        let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
        while outbox.counts.postponed == 0 { try await stage.timer.sleep(for: .seconds(1)) }
        return (outbox, entry)
    }

    @Test func openingASessionDeliversTheWritesOfAnEarlierProcess() async throws {
        let stage = stage
        let upstream = stage.upstream()
        try await stage.scheduler.run {
            let (earlier, entry) = try await left()
            await earlier.close()
            let session = session(try stage.outbox(upstream))
            try await session.open(handlers: [stage.handler])
            #expect(stage.handler.pending.map(\.idempotencyKey) == [entry.idempotencyKey])
            #expect(session.outbox.pending.count == 1)
            try await session.outbox.settlement(of: entry)
            await session.close()
        }
        #expect(upstream.done.count == 1)
        #expect(stage.timer.count == 0)
    }

    @Test func sessionWithoutPendingWritesOwnsTheOutboxFromItsFirstWrite() async throws {
        let stage = stage
        try await stage.scheduler.run {
            let session = session(try stage.outbox(stage.upstream()))
            try await session.open(handlers: [stage.handler])
            let other = try stage.outbox(stage.upstream(), keySeed: 2)
            #expect(try await other.otherOwner() == nil)
            try await session.outbox.accept([OutboxStage.write(["7"])])
            #expect(try await other.otherOwner() == "another part of this process")
            await session.close()
            #expect(try await other.otherOwner() == nil)
            await other.close()
        }
    }

    @Test func sessionThatOnlyShowsPendingWritesDeliversNothing() async throws {
        let stage = stage
        let upstream = stage.upstream()
        try await stage.scheduler.run {
            let (earlier, entry) = try await left()
            await earlier.close()
            let session = session(try stage.outbox(upstream))
            try await session.open(handlers: [stage.handler], pendingWrites: .show)
            #expect(stage.handler.pending.map(\.idempotencyKey) == [entry.idempotencyKey])
            try await stage.timer.sleep(for: .seconds(600))
            #expect(upstream.requests.isEmpty)
            #expect(try await earlier.otherOwner() == nil)
            await session.close()
        }
        #expect(stage.errors.errors.filter { !($0 is DelayedWriteError) }.isEmpty)
    }

    @Test func sessionReportsTheOwnerAndDeliversWhenTheOwnerHasEnded() async throws {
        let stage = stage
        let (upstream, errors) = (stage.upstream(), RecordingErrorHandler())
        try await stage.scheduler.run {
            // The write waits for new credentials, which takes long.
            let (owner, entry) = try await left(answering: .unauthorized)
            try await stage.timer.sleep(for: .seconds(600))
            let session = session(try stage.outbox(upstream))
            try await session.open(handlers: [stage.handler], tellingOwnersTo: errors)
            #expect(stage.handler.pending.map(\.idempotencyKey) == [entry.idempotencyKey])
            let explanation = "The outbox is owned by another part of this process, which delivers it."
            while errors.errors.isEmpty { try await stage.timer.sleep(for: .milliseconds(1)) }
            let error = try #require(errors.errors.first as? RecordStoreError)
            #expect(error.reason == .busy)
            #expect(error.explanation == "\(explanation) This process takes over when the owner has ended.")
            try await stage.timer.sleep(for: .seconds(10))
            #expect(upstream.requests.isEmpty)
            await owner.close()
            // The credentials of this session are used immediately.
            try await stage.timer.sleep(for: .seconds(2))
            #expect(upstream.done.count == 1)
            await session.close()
        }
        #expect(errors.errors.count == 1)
        #expect(stage.timer.count == 0)
    }

    @Test func openingASessionRetriesDeniedWrites() async throws {
        let stage = stage
        try await stage.scheduler.run {
            let (outbox, entry) = try await left(answering: .unauthorized)
            try await stage.timer.sleep(for: .seconds(600))
            await outbox.close()
            let upstream = stage.upstream()
            let session = session(try stage.outbox(upstream))
            let before = stage.elapsed
            try await session.open(handlers: [stage.handler])
            try await session.outbox.settlement(of: entry)
            #expect(stage.elapsed == before)
            await session.close()
        }
    }

    @Test func openingContinuesAfterCancellation() async throws {
        let stage = stage
        let upstream = stage.upstream()
        try await stage.scheduler.run {
            let (earlier, entry) = try await left()
            await earlier.close()
            let session = session(try stage.outbox(upstream, store: SlowRecordStore(stage.store, timer: stage.timer)))
            let opening = Task(executorPreference: stage.scheduler.executor) {
                try await session.open(handlers: [stage.handler])
            }
            try await stage.timer.sleep(for: .milliseconds(500))
            opening.cancel()
            let error = await #expect(throws: RecordStoreError.self) { try await opening.value }
            #expect(error?.reason == .cancelled)
            #expect(upstream.requests.isEmpty)
            try await stage.timer.sleep(for: .seconds(60))
            #expect(upstream.done.map(\.url.lastPathComponent) == [entry.write.path])
            await session.close()
        }
        #expect(upstream.done.count == 1)
    }

    @Test(arguments: [PendingWrites.deliver, .show])
    func openingWaitsForAnUnresponsiveStoreUntilTheDeadline(pendingWrites: PendingWrites) async throws {
        let stage = stage
        try await stage.scheduler.run {
            let session = session(try stage.outbox(stage.upstream(), store: StuckRecordStore(base: stage.store)))
            let outcome = await Deadline(in: .seconds(30), on: stage.timer).carried {
                () async throws(RecordStoreError) in
                try await session.open(handlers: [stage.handler], pendingWrites: pendingWrites)
            }
            #expect(outcome.failure?.reason == .unavailable)
            #expect(outcome.failure?.explanation.hasPrefix("The outbox could not be read in time") == true)
            #expect(stage.elapsed == .seconds(30))
            // After closing, nothing waits for the store.
            await session.close()
        }
    }

    @Test func openingContinuesAfterTheDeadline() async throws {
        let stage = stage
        let upstream = stage.upstream()
        try await stage.scheduler.run {
            let (earlier, entry) = try await left()
            await earlier.close()
            let slow = SlowRecordStore(stage.store, timer: stage.timer)
            let session = session(try stage.outbox(upstream, store: slow))
            let outcome = await Deadline(in: .milliseconds(500), on: stage.timer).carried {
                () async throws(RecordStoreError) in
                try await session.open(handlers: [stage.handler])
            }
            #expect(outcome.failure?.reason == .unavailable)
            try await stage.timer.sleep(for: .seconds(60))
            #expect(upstream.done.map(\.url.lastPathComponent) == [entry.write.path])
            await session.close()
        }
    }

    @Test func openingThrowsTheErrorOfTheStore() async throws {
        let stage = stage
        try await stage.scheduler.run {
            let session = session(try stage.outbox(stage.upstream()))
            let failure = RecordStoreError(.denied, explanation: "It may not be read.")
            stage.store.fail(with: failure)
            await #expect(throws: failure) { try await session.open(handlers: [stage.handler]) }
            // The next write opens it.
            stage.store.fail(with: nil)
            let entry = try await session.outbox.accept([OutboxStage.write(["7"])])[0]
            try await session.outbox.settlement(of: entry)
            #expect(stage.handler.events.contains(.committed(entry)))
            await session.close()
        }
    }

    @Test func sessionClosedBeforeOpeningIsNotNotifiedOfWrites() async throws {
        let stage = stage
        try await stage.scheduler.run {
            let outbox = try stage.outbox(stage.upstream())
            _ = try await outbox.join(handlers: [stage.handler])
            // Another session still uses the outbox.
            let session = SessionOutbox(outbox, behind: nil, executor: stage.scheduler.executor) {}
            await session.close()
            let handler = RecordingOutboxHandler()
            let error = await #expect(throws: RecordStoreError.self) { try await session.open(handlers: [handler]) }
            #expect(error?.reason == .cancelled)
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            try await outbox.settlement(of: entry)
            #expect(handler.events == [])
            #expect(stage.handler.events.contains(.committed(entry)))
            await outbox.close()
        }
    }

    @Test func closingEndsTheWaitForOwnership() async throws {
        let stage = stage
        try await stage.scheduler.run {
            let (owner, _) = try await left()
            let session = session(try stage.outbox(stage.upstream()))
            try await session.open(handlers: [stage.handler])
            await session.close()
            #expect(stage.errors.errors.allSatisfy { $0 is DelayedWriteError })
            await owner.close()
        }
        #expect(stage.timer.count == 0)
    }

    @Test func openingWaitsUntilThePreviousOutboxIsClosed() async throws {
        let stage = stage
        let upstream = stage.upstream()
        try await stage.scheduler.run {
            let (earlier, entry) = try await left()
            let session = session(try stage.outbox(upstream), behind: earlier)
            try await session.open(handlers: [stage.handler])
            // It owns the outbox immediately, and no owner is reported.
            try await session.outbox.settlement(of: entry)
            await session.close()
            let error = await #expect(throws: RecordStoreError.self) {
                try await earlier.accept([OutboxStage.write(["8"])])
            }
            #expect(error?.reason == .closed)
        }
        #expect(upstream.done.count == 1)
    }
}
