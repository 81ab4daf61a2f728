import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct RecordClaimTests {
    private let scheduler = DeterministicScheduler(seed: 7)
    private let store = InMemoryRecordStore()

    private func claim() async throws -> RecordClaim? {
        if case .claimed(let claim) = try await store.claim(["outbox"]) { claim } else { nil }
    }

    @Test func claimIsReleasedOnce() async {
        let released = Journal()
        let claim = RecordClaim { released.add("released") }
        for _ in 1...2 { await claim.release() }
        #expect(released.entries == ["released"])
    }

    @Test func waiterGetsTheClaimWhenItsOwnerReleasesIt() async throws {
        let timer = scheduler.timer
        try await scheduler.run {
            let first = try #require(try await claim())
            async let second = store.claim(["outbox"], waitingWith: timer)
            try await timer.sleep(for: .seconds(60))
            #expect(try await claim() == nil)
            await first.release()
            await (try second).release()
            #expect(try await claim() != nil)
        }
        #expect(scheduler.clock.now.offset <= .seconds(61))
    }

    @Test func waiterLearnsTheOwnerBeforeItsDeadlinePasses() async throws {
        let timer = scheduler.timer
        try await scheduler.run {
            let first = try #require(try await claim())
            let outcome = await Deadline(in: .seconds(5), on: timer).carried { () async throws(RecordStoreError) in
                try await store.claim(["outbox"], waitingWith: timer)
            }
            let error = #expect(throws: RecordStoreError.self) { try outcome.get() }
            #expect(error?.reason == .busy)
            #expect(error?.explanation.contains("another part of this process") == true)
            // Early enough for the caller to receive the error.
            #expect(scheduler.clock.now.offset == .milliseconds(4_900))
            await first.release()
        }
    }

    @Test func deadlineDoesNotChangeTheRetryIntervalOfAWaiter() async throws {
        let timer = scheduler.timer
        try await scheduler.run {
            let first = try #require(try await claim())
            async let waiting = Deadline(in: .seconds(60), on: timer).carried { () async throws(RecordStoreError) in
                try await store.claim(["outbox"], waitingWith: timer)
            }
            try await timer.sleep(for: .milliseconds(11))
            await first.release()
            await (try waiting.get()).release()
            #expect(timer.now == .milliseconds(30))
        }
    }

    /// The first interval is 10 ms. Each one is twice as long as the last, up to a second.
    @Test(arguments: [(9, 10), (11, 30), (29, 30), (31, 70), (1_269, 1_270), (1_271, 2_270), (2_271, 3_270)])
    func waiterTriesAgainAtGrowingIntervals(released: Int, claimed: Int) async throws {
        let timer = scheduler.timer
        try await scheduler.run {
            let first = try #require(try await claim())
            async let waiting = store.claim(["outbox"], waitingWith: timer)
            try await timer.sleep(for: .milliseconds(released))
            await first.release()
            let second = try await waiting
            #expect(scheduler.clock.now.offset == .milliseconds(claimed))
            await second.release()
        }
    }

    @Test func cancelledWaiterStopsWaiting() async throws {
        let timer = scheduler.timer
        try await scheduler.run {
            let first = try #require(try await claim())
            let reason = await withTaskGroup(of: RecordStoreError.Reason?.self) { group in
                group.addTask {
                    do throws(RecordStoreError) {
                        _ = try await store.claim(["outbox"], waitingWith: timer)
                        return nil
                    } catch {
                        return error.reason
                    }
                }
                try? await timer.sleep(for: .seconds(2))
                group.cancelAll()
                return await group.next() ?? nil
            }
            #expect(reason == .cancelled)
            #expect(scheduler.clock.now.offset == .seconds(2))
            #expect(timer.count == 0)
            await first.release()
        }
    }
}
