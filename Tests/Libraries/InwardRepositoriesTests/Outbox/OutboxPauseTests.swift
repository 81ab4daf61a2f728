import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Tests of pauses: an upstream that answers 404 for a minute must not turn all pending writes into dead letters.
@Suite(.timeLimit(.minutes(5)))
struct OutboxPauseTests {
    private let stage = OutboxStage()

    /// Returns an upstream that refuses everything until a time.
    private func upstream(refusingUntil end: Duration) -> IdempotentDataFetcher {
        let stage = stage
        return IdempotentDataFetcher(
            timer: stage.timer,
            latency: { _ in .milliseconds(10) },
            fate: { _ in stage.elapsed < end ? .turnedAway(DataResponse(status: 404)) : .done }
        )
    }

    private let writes = (0..<50).map { OutboxStage.write(["s\($0)"], "\($0)") }

    @Test func drainDoesNotWaitForWritesDueAfterTheDeadline() async throws {
        let stage = stage
        let upstream = upstream(refusingUntil: .seconds(90))
        let outbox = try stage.outbox(upstream)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            try await outbox.accept(writes)
            // It waits for the attempts in progress, but not for the pause that they cause.
            await outbox.drain(by: Deadline(in: .seconds(30), on: stage.timer))
            #expect(stage.elapsed < .seconds(1))
            #expect(outbox.status.pause != nil && outbox.status.pendingCount == 45)
            // The pause ends before this deadline, but the upstream still refuses.
            await outbox.drain(by: Deadline(in: .seconds(70), on: stage.timer))
            #expect(stage.elapsed > .seconds(60) && stage.elapsed < .seconds(62))
            await outbox.drain(by: Deadline(in: .seconds(300), on: stage.timer))
            #expect(outbox.status.pendingCount == 0)
            await outbox.close()
            await outbox.drain(by: Deadline(in: .seconds(300), on: stage.timer))
        }
    }

    @Test func closingEndsADrain() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream(latency: .seconds(100)))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            try await outbox.accept([OutboxStage.write(["7"])])
            async let drained: Void = outbox.drain(by: Deadline(in: .seconds(300), on: stage.timer))
            try await stage.timer.sleep(for: .seconds(1))
            await outbox.close()
            await drained
            #expect(stage.elapsed == .seconds(1))
        }
    }

    @Test func refusalsInARowPauseDeliveryUntilAProbeIsDelivered() async throws {
        let stage = stage
        let upstream = upstream(refusingUntil: .seconds(90))
        let outbox = try stage.outbox(upstream)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            try await outbox.accept(writes)
            try await stage.timer.sleep(for: .seconds(10))
            // The other writes that were being sent are pending again.
            #expect(outbox.counts.refused == 5)
            #expect(outbox.status.pendingCount == 45)
            let pause = try #require(outbox.status.pause)
            #expect(pause.refusals == 5)
            #expect(pause.cause.contains("404"))
            #expect(abs(pause.until.timeIntervalSince(OutboxStage.time) - 60) < 1)
            let told = stage.errors.errors.compactMap { $0 as? OutboxPausedError }
            #expect(told.map(\.pause.refusals) == [5])
            let requests = upstream.requests.count
            #expect(requests < 12)
            // One probe is refused after a minute, the next is delivered after two more.
            try await stage.timer.sleep(for: .seconds(60))
            #expect(outbox.counts.refused == 6)
            #expect(upstream.requests.count == requests + 1)
            #expect(await outbox.drain() == 0)
            #expect(outbox.status.pause == nil)
            #expect(outbox.counts.delivered == 44)
            #expect(abs(stage.elapsed / .seconds(1) - 181) < 5)
            #expect(stage.errors.errors.compactMap { $0 as? OutboxPausedError }.count == 1)
            // One call makes the refused writes pending again.
            #expect(try await outbox.retryDeadLetters() == 6)
            #expect(await outbox.drain() == 0)
            await outbox.close()
            #expect(try await stage.store.records(under: outbox.records.prefix).map(\.key) == [outbox.records.owner])
        }
        #expect(Set(upstream.done.map(\.text)).count == 50)
        #expect(upstream.done.count == 50)
        #expect(stage.timer.count == 0)
    }

    @Test func nextDeliveryRemovesTheRecordOfRefusalsOnce() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream(.turnedAway(DataResponse(status: 404))))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            for subject in ["7", "8", "9"] {
                try await outbox.accept([OutboxStage.write([subject])])
                #expect(await outbox.drain() == 0)
            }
            await outbox.close()
        }
        let removals = stage.store.commits.joined().filter { change in
            if case .remove(let key) = change { key == outbox.records.pause } else { false }
        }
        #expect(removals.count == 1)
    }

    @Test func firstDeliveryRemovesTheRecordOfRefusalsOfAnEarlierProcess() async throws {
        let stage = stage
        let upstream = stage.upstream(.turnedAway(DataResponse(status: 404)))
        try await stage.scheduler.run {
            for (seed, subject) in [(1, "7"), (2, "8")] {
                let outbox = try stage.outbox(upstream, keySeed: UInt64(seed))
                try await outbox.open(handlers: [stage.handler])
                try await outbox.accept([OutboxStage.write([subject])])
                #expect(await outbox.drain() == 0)
                await outbox.close()
                let isKept = try await stage.store.record(for: outbox.records.pause) != nil
                #expect(isKept == (seed == 1))
            }
        }
        #expect(upstream.done.count == 1)
    }

    @Test func pauseContinuesInTheNextProcess() async throws {
        let stage = stage
        let upstream = upstream(refusingUntil: .seconds(30))
        try await stage.scheduler.run {
            let first = try stage.outbox(upstream)
            try await first.open(handlers: [stage.handler])
            try await first.accept(writes)
            try await stage.timer.sleep(for: .seconds(10))
            await first.close()
            #expect(try await OutboxContents(of: stage.store).pause?.refusals == 5)
            #expect(try await OutboxContents(of: stage.store).status.pause?.refusals == 5)
            let requests = upstream.requests.count
            let second = try stage.outbox(upstream, keySeed: 2)
            try await second.open(handlers: [stage.handler])
            try await stage.timer.sleep(for: .seconds(10))
            #expect(upstream.requests.count == requests)
            #expect(second.status.pause?.refusals == 5)
            // Users who know that the upstream works again can retry immediately.
            try await stage.timer.sleep(for: .seconds(15))
            second.retryNow()
            #expect(await second.drain() == 0)
            #expect(stage.elapsed < .seconds(40))
            await second.close()
        }
        #expect(upstream.done.count == 45)
    }

    /// A program that runs only briefly each time must pause, too.
    @Test func refusalsInARowAreCountedAcrossProcesses() async throws {
        let stage = stage
        let upstream = upstream(refusingUntil: .seconds(1_000))
        try await stage.scheduler.run {
            for number in 0..<7 {
                let outbox = try stage.outbox(upstream, keySeed: UInt64(number))
                try await outbox.open(handlers: [stage.handler])
                try await outbox.accept([writes[number]])
                try await stage.timer.sleep(for: .seconds(1))
                await outbox.close()
            }
            let contents = try await OutboxContents(of: stage.store)
            #expect(contents.deadLetters.count == 5)
            #expect(contents.pending.count == 2)
        }
        #expect(upstream.requests.count == 5)
    }

    @Test func refusalsOfOneSubjectOrBetweenDeliveriesDoNotPause() async throws {
        let stage = stage
        let upstream = IdempotentDataFetcher(
            timer: stage.timer,
            fate: { $0.text == "bad" ? .turnedAway(DataResponse(status: 422)) : .done }
        )
        let outbox = try stage.outbox(upstream, policy: OutboxPolicy(concurrency: 1))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            try await outbox.accept((0..<10).map { _ in OutboxStage.write(["7"], "bad") })
            #expect(await outbox.drain() == 0)
            for number in 0..<10 {
                try await outbox.accept([OutboxStage.write(["s\(number)"], "bad"), OutboxStage.write(["s\(number)"])])
                #expect(await outbox.drain() == 0)
            }
            await outbox.close()
        }
        #expect(outbox.counts.refused == 20)
        #expect(stage.elapsed == .zero)
    }
}
