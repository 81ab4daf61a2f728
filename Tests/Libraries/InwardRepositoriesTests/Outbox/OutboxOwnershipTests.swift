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
struct OutboxOwnershipTests {
    private let stage = OutboxStage()

    private func unclaimed() -> UnclaimedRecordStore { UnclaimedRecordStore(base: stage.store) }

    @Test func secondOutboxWaitsUntilTheFirstIsClosed() async throws {
        let stage = stage
        let upstream = stage.upstream(latency: .seconds(20))
        try await stage.scheduler.run {
            let first = try stage.outbox(upstream)
            try await first.open(handlers: [stage.handler])
            try await first.accept([OutboxStage.write(["7"])])
            let second = try stage.outbox(upstream, keySeed: 2)
            async let opening: Void = second.open(handlers: [RecordingOutboxHandler()])
            try await stage.timer.sleep(for: .seconds(10))
            // The second outbox takes nothing from the first one.
            let entry = try await first.accept([OutboxStage.write(["8"])])[0]
            try await first.settlement(of: entry)
            await first.close()
            try await opening
            let own = try await second.accept([OutboxStage.write(["9"])])[0]
            try await second.settlement(of: own)
            await second.close()
        }
        #expect(Set(upstream.done.map(\.url.lastPathComponent)) == ["7", "8", "9"])
        #expect(upstream.requests.count == 3)
        #expect(stage.errors.errors.isEmpty)
        #expect(stage.timer.count == 0)
    }

    @Test func writerLearnsTheOwnerBeforeItsDeadlinePasses() async throws {
        let stage = stage
        try await stage.scheduler.run {
            let first = try stage.outbox(stage.upstream())
            try await first.open(handlers: [stage.handler])
            let second = try stage.outbox(stage.upstream(), keySeed: 2)
            _ = try await second.join(handlers: [RecordingOutboxHandler()])
            let outcome = await Deadline(in: .seconds(5), on: stage.timer).carried {
                () async throws(RecordStoreError) in
                try await second.accept([OutboxStage.write(["7"])])
            }
            let error = #expect(throws: RecordStoreError.self) { try outcome.get() }
            #expect(error?.reason == .busy)
            #expect(error?.explanation.hasPrefix("The outbox is owned by another part of this process.") == true)
            #expect(stage.elapsed == .milliseconds(4_900))
            await first.close()
            // Now the second outbox can own the records.
            try await second.accept([OutboxStage.write(["7"])])
            await second.close()
        }
    }

    @Test func outboxOfAKilledProcessHasNoOwner() async throws {
        let stage = stage
        let upstream = stage.upstream()
        let process = MortalProcess()
        try await stage.scheduler.run {
            let first = try stage.outbox(
                MortalDataFetcher(base: StubDataFetcher(failing: .unreachable), process: process),
                store: MortalRecordStore(base: stage.store, process: process)
            )
            try await first.open(handlers: [stage.handler])
            try await first.accept([OutboxStage.write(["7"])])
            process.end()
            let second = try stage.outbox(upstream, keySeed: 2)
            _ = try await second.join(handlers: [RecordingOutboxHandler()])
            #expect(try await second.openUnlessOwned() == nil)
            for entry in second.pending { try await second.settlement(of: entry) }
            await second.close()
            await first.close()
        }
        #expect(upstream.done.count == 1)
    }

    @Test func readerIsShownPendingWritesWithoutOwnership() async throws {
        let stage = stage
        let upstream = stage.upstream(latency: .seconds(10))
        try await stage.scheduler.run {
            let owner = try stage.outbox(upstream)
            try await owner.open(handlers: [stage.handler])
            let entry = try await owner.accept([OutboxStage.write(["7"])])[0]
            let reader = try stage.outbox(StubDataFetcher(failing: .unreachable), keySeed: 2)
            let handler = RecordingOutboxHandler()
            _ = try await reader.join(handlers: [handler])
            try await reader.showPending()
            #expect(handler.pending.map(\.idempotencyKey) == [entry.idempotencyKey])
            #expect(try await reader.hasPendingRecords())
            #expect(try await reader.openUnlessOwned() == "another part of this process")
            #expect(try await reader.otherOwner() == "another part of this process")
            #expect(try await owner.otherOwner() == nil)
            try await owner.settlement(of: entry)
            try await reader.showPending()
            #expect(handler.pending == [])
            #expect(try await !reader.hasPendingRecords())
            await reader.close()
            await owner.close()
        }
        #expect(stage.errors.errors.isEmpty)
    }

    @Test func askingForTheOwnerDoesNotTakeOwnership() async throws {
        let stage = stage
        try await stage.scheduler.run {
            let first = try stage.outbox(stage.upstream())
            let second = try stage.outbox(stage.upstream(), keySeed: 2)
            #expect(try await first.otherOwner() == nil)
            try await second.open(handlers: [stage.handler])
            #expect(try await first.otherOwner() == "another part of this process")
            await second.close()
            try await first.open(handlers: [RecordingOutboxHandler()])
            // A closed outbox also reports the current owner.
            #expect(try await second.otherOwner() == "another part of this process")
            await first.close()
        }
    }

    private enum Order: CaseIterable { case open, retry, retryNow }

    @Test(arguments: Order.allCases)
    private func outboxOpenedWithoutDeliverySendsNothingUntilAskedTo(order: Order) async throws {
        let stage = stage
        let upstream = stage.upstream()
        try await stage.scheduler.run {
            let earlier = try stage.outbox(StubDataFetcher(failing: .unreachable))
            try await earlier.open(handlers: [stage.handler])
            let entries = try await earlier.accept([OutboxStage.write(["7"]), OutboxStage.write(["8"], "2")])
            await earlier.close()

            let outbox = try stage.outbox(upstream, keySeed: 2)
            _ = try await outbox.join(handlers: [stage.handler])
            #expect(try await outbox.openUnlessOwned(delivering: false) == nil)
            try await stage.timer.sleep(for: .seconds(600))
            #expect(try await outbox.discard(entries[0].idempotencyKey))
            #expect(upstream.requests.isEmpty)
            switch order {
            case .open: #expect(try await outbox.openUnlessOwned() == nil)
            case .retry: try await outbox.retry(entries[1].idempotencyKey)
            case .retryNow: outbox.retryNow()
            }
            try await outbox.settlement(of: entries[1])
            await outbox.close()
        }
        #expect(upstream.done.map(\.text) == ["2"])
    }

    @Test func deniedWriteIsRetriedWithNewCredentialsAfterARestart() async throws {
        let stage = stage
        let upstream = stage.upstream()
        try await stage.scheduler.run {
            let earlier = try stage.outbox(StubDataFetcher(DataResponse(status: .unauthorized)))
            try await earlier.open(handlers: [stage.handler])
            let entry = try await earlier.accept([OutboxStage.write(["7"])])[0]
            try await stage.timer.sleep(for: .seconds(100))
            await earlier.close()

            let outbox = try stage.outbox(upstream, keySeed: 2)
            try await outbox.open(handlers: [stage.handler])
            let before = stage.elapsed
            outbox.retryDenied()
            try await outbox.settlement(of: entry)
            #expect(stage.elapsed == before)
            await outbox.close()
        }
        #expect(upstream.done.count == 1)
    }

    /// Counts the claims of a store and their releases. A claim that is only deallocated does not count as released.
    private struct CountingRecordStore: RecordStoreDecorator {
        let base: any RecordStore
        /// Whether commits fail.
        let isFull: Bool
        let claims = Counter()
        let releases = Counter()

        func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
            if isFull { throw RecordStoreError(.full, explanation: "There is no room.") }
            try await base.commit(changes)
        }

        func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult {
            guard case .claimed(let claim) = try await base.claim(key) else { return .owned(by: "another") }
            claims.add()
            return .claimed(
                RecordClaim { [releases] in
                    await claim.release()
                    releases.add()
                }
            )
        }
    }

    private enum End: CaseIterable { case close, failedOpening, closeWhileOpening, takeover, question }

    /// Releasing takes a while. When the call returns, the next owner must be able to claim the records.
    @Test(arguments: End.allCases)
    private func claimIsReleasedBeforeTheCallReturns(end: End) async throws {
        let stage = stage
        let store = CountingRecordStore(
            base: SlowRecordStore(stage.store, timer: stage.timer, claimsLate: end == .closeWhileOpening),
            isFull: end == .failedOpening
        )
        try await stage.scheduler.run {
            let outbox = try stage.outbox(stage.upstream(), store: store)
            switch end {
            case .close:
                try await outbox.open(handlers: [stage.handler])
                await outbox.close()
            case .failedOpening:
                await #expect(throws: RecordStoreError.self) { try await outbox.open(handlers: [stage.handler]) }
            case .closeWhileOpening:
                async let opening: Void = outbox.open(handlers: [stage.handler])
                try await stage.timer.sleep(for: .milliseconds(100))
                await outbox.close()
                try? await opening
            case .takeover:
                try await outbox.open(handlers: [stage.handler])
                try await stage.store.commit([.keep(StoredRecord([1]), outbox.records.owner)])
                await #expect(throws: RecordStoreError.self) { try await outbox.accept([OutboxStage.write(["7"])]) }
            case .question:
                #expect(try await outbox.otherOwner() == nil)
            }
            #expect(store.claims.value == 1 && store.releases.value == 1)
            await outbox.close()
        }
    }

    // MARK: Without working claims

    @Test func fencedOutboxReopensWithItsNextWrite() async throws {
        let stage = stage
        let upstream = stage.upstream(.lost)
        try await stage.scheduler.run {
            let first = try stage.outbox(upstream, store: unclaimed())
            let handler = RecordingOutboxHandler()
            try await first.open(handlers: [handler])
            let entries = try await first.accept([OutboxStage.write(["7"]), OutboxStage.write(["7"], "2")])
            try await stage.timer.sleep(for: .milliseconds(500))
            let errors = RecordingErrorHandler()
            let second = try stage.outbox(upstream, store: unclaimed(), keySeed: 2, errors: errors)
            try await second.open(handlers: [stage.handler])
            for entry in entries { try await second.settlement(of: entry) }
            // The first outbox wakes, and notices the takeover.
            try await stage.timer.sleep(for: .seconds(10))
            #expect(stage.errors.errors as? [OutboxFencedError] == [OutboxFencedError(prefix: ["outbox"])])
            #expect(handler.pending == [] && first.pending == [])
            let ending = await Result { () async throws(RepositoryError) in try await first.settlement(of: entries[0]) }
            #expect(ending.failure?.reason == .closed)
            await second.close()

            let entry = try await first.accept([OutboxStage.write(["7"], "3")])[0]
            #expect(handler.events.contains(.accepted(entry)))
            try await first.settlement(of: entry)
            await first.close()
            #expect(errors.errors.isEmpty)
            #expect(stage.timer.count == 0)
        }
        #expect(upstream.requests.map(\.text) == ["1", "1", "2", "3"])
        #expect(stage.errors.errors.count == 1)
    }

    /// The outbox waits for an attempt that ignores cancellation before it sends the write again.
    @Test func reopenedOutboxSendsNothingTwiceConcurrently() async throws {
        let stage = stage
        let underWay = Mutex(0)
        let most = Mutex(0)
        let upstream = StubDataFetcher { _ throws(FetchError) in
            let count = underWay.withLock { count in
                count += 1
                return count
            }
            most.withLock { $0 = max($0, count) }
            await Task(executorPreference: stage.scheduler.executor) {
                try? await stage.timer.sleep(for: .seconds(10))
            }.value
            underWay.withLock { $0 -= 1 }
            return DataResponse()
        }
        try await stage.scheduler.run {
            let outbox = try stage.outbox(upstream)
            try await outbox.open(handlers: [stage.handler])
            try await outbox.accept([OutboxStage.write(["7"])])
            try await stage.timer.sleep(for: .seconds(1))
            try await stage.store.commit([.keep(StoredRecord([1]), outbox.records.owner)])
            await #expect(throws: RecordStoreError.self) { try await outbox.accept([OutboxStage.write(["7"])]) }
            try await outbox.accept([OutboxStage.write(["7"], "2")])
            #expect(await outbox.drain() == 0)
            await outbox.close()
        }
        #expect(most.withLock(\.self) == 1)
    }

    @Test func writeThatDiscoversATakeoverIsNotAccepted() async throws {
        let stage = stage
        try await stage.scheduler.run {
            let first = try stage.outbox(stage.upstream(), store: unclaimed())
            try await first.open(handlers: [stage.handler])
            let second = try stage.outbox(stage.upstream(), store: unclaimed(), keySeed: 2)
            try await second.open(handlers: [stage.handler])
            let error = await #expect(throws: RecordStoreError.self) {
                try await first.accept([OutboxStage.write(["7"])], with: [.keep(StoredRecord([1]), ["draft"])])
            }
            #expect(error?.reason == .closed)
            #expect(try await stage.store.record(for: ["draft"]) == nil)
            #expect(stage.handler.events == [])
            #expect(stage.errors.errors.count == 1)
            await first.close()
            await second.close()
        }
    }

    @Test func fencedOutboxReleasesItsClaim() async throws {
        let stage = stage
        try await stage.scheduler.run {
            let first = try stage.outbox(stage.upstream())
            try await first.open(handlers: [stage.handler])
            // If claims do not work, as on some network file systems, only this record shows that there is another owner.
            try await stage.store.commit([.keep(StoredRecord([1]), first.records.owner)])
            await #expect(throws: RecordStoreError.self) { try await first.accept([OutboxStage.write(["7"])]) }
            let second = try stage.outbox(stage.upstream(), keySeed: 2)
            _ = try await second.join(handlers: [RecordingOutboxHandler()])
            #expect(try await second.openUnlessOwned() == nil)
            #expect(try await first.otherOwner() == "another part of this process")
            await second.close()
            await first.close()
        }
    }

    @Test func takeoverDiscoveredBySeveralWritesIsReportedOnce() async throws {
        let stage = stage
        try await stage.scheduler.run {
            let slow = SlowRecordStore(unclaimed(), timer: stage.timer)
            let first = try stage.outbox(stage.upstream(), store: slow)
            try await first.open(handlers: [stage.handler])
            let second = try stage.outbox(stage.upstream(), store: unclaimed(), keySeed: 2)
            try await second.open(handlers: [stage.handler])
            async let one = Result { () async throws(RecordStoreError) in
                try await first.accept([OutboxStage.write(["7"])])
            }
            async let other = Result { () async throws(RecordStoreError) in
                try await first.accept([OutboxStage.write(["8"])])
            }
            #expect(await [one, other].map(\.failure?.reason) == [.closed, .closed])
            #expect(stage.errors.errors.count == 1)
            await first.close()
            await second.close()
        }
    }

    @Test func fencedOutboxSettlesNothing() async throws {
        let stage = stage
        let upstream = stage.upstream()
        let slow = StubDataFetcher { request throws(FetchError) in
            let answer = try await upstream.fetch(request)
            try? await stage.timer.sleep(for: .seconds(10))
            return answer
        }
        try await stage.scheduler.run {
            let first = try stage.outbox(slow, store: unclaimed())
            let handler = RecordingOutboxHandler()
            try await first.open(handlers: [handler])
            let entries = try await first.accept([OutboxStage.write(["7"]), OutboxStage.write(["7"], "2")])
            try await stage.timer.sleep(for: .seconds(1))
            let second = try stage.outbox(upstream, store: unclaimed(), keySeed: 2, errors: RecordingErrorHandler())
            try await second.open(handlers: [stage.handler])
            for entry in entries { try await second.settlement(of: entry) }
            let ending = await Result { () async throws(RepositoryError) in
                try await first.settlement(of: entries[0])
            }
            #expect(ending.failure?.reason == .closed)
            #expect(stage.elapsed == .seconds(10))
            #expect(!handler.events.contains { if case .committed = $0 { true } else { false } })
            #expect(try await stage.values() == [["7"]: "2"])
            await first.close()
            await second.close()
        }
        #expect(upstream.done.map(\.text) == ["1", "2"])
        #expect(stage.errors.errors as? [OutboxFencedError] == [OutboxFencedError(prefix: ["outbox"])])
    }

    @Test func outboxOpenedWithoutDeliveryDeliversWhatItAccepts() async throws {
        let stage = stage
        let upstream = stage.upstream()
        let outbox = try stage.outbox(upstream)
        try await stage.scheduler.run {
            _ = try await outbox.join(handlers: [stage.handler])
            #expect(try await outbox.openUnlessOwned(delivering: false) == nil)
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            try await outbox.settlement(of: entry)
            await outbox.close()
        }
        #expect(upstream.done.count == 1)
    }

    @Test func writePendingInAnotherProcessIsNotReportedAsDelivered() async throws {
        let stage = stage
        try await stage.scheduler.run {
            let first = try stage.outbox(StubDataFetcher(failing: .unreachable))
            try await first.open(handlers: [stage.handler])
            let entry = try await first.accept([OutboxStage.write(["7"])])[0]
            await first.close()
            let stranger = try stage.outbox(stage.upstream(), store: stage.store, keySeed: 3)
            await stranger.close()
            let error = await #expect(throws: RepositoryError.self) { try await stranger.settlement(of: entry) }
            #expect(error?.reason == .closed)
        }
    }
}
