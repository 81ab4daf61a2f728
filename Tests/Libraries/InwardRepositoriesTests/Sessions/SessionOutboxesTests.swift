import Foundation
import InwardCore
import InwardFetching
import InwardTesting
import Testing

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct SessionOutboxesTests {
    /// A handler that takes ten seconds to settle a delivered write.
    private struct SlowOutboxHandler: OutboxHandler {
        let endpoint = "posts"
        let operations = [OutboxOperation(.post, "posts")]
        let timer: TimerService

        func reset(to entries: [OutboxEntry]) {}

        func accepted(_ entries: [OutboxEntry]) {}

        func delivered(
            _ entry: OutboxEntry,
            answer: DataResponse,
            before later: LaterEntries
        ) async throws(RecordStoreError) -> OutboxSettlement {
            try? await timer.sleep(for: .seconds(10))
            return OutboxSettlement()
        }

        func refused(
            _ entry: OutboxEntry,
            because error: RepositoryError,
            before later: LaterEntries
        ) async throws(RecordStoreError) -> OutboxSettlement { OutboxSettlement() }
    }

    @Test func newSessionTakesNothingFromAnOutboxBeingClosed() async throws {
        let scheduler = DeterministicScheduler(seed: 7)
        let timer = scheduler.timer
        let (records, errors) = (InMemoryRecordStore(), RecordingErrorHandler())
        let upstream = IdempotentDataFetcher()
        let url = try #require(URL(string: "https://example.org"))
        try await scheduler.run {
            let outboxes = SessionOutboxes(executor: timer.executor)
            @Sendable func share() -> SessionOutbox {
                outboxes.outbox(of: ["users", "1"], asking: upstream) { dataFetcher in
                    Outbox(
                        upstream: Upstream(baseURL: url, dataFetcher: dataFetcher),
                        store: records,
                        timer: timer,
                        errorHandler: errors
                    )
                }
            }
            let handler = SlowOutboxHandler(timer: timer)
            let first = share()
            try await first.open(handlers: [handler])
            try await first.outbox.accept([OutboxWrite(endpoint: "posts", subject: ["posts", "new"], path: "posts")])
            // The upstream has answered, and the write is being settled.
            try await timer.sleep(for: .seconds(1))
            async let closing: Void = first.close()
            try await timer.sleep(for: .seconds(1))
            let others = [share(), share()]
            for other in others { try await other.open(handlers: [handler], tellingOwnersTo: errors) }
            await closing
            #expect(others.allSatisfy { $0.outbox.pending == [] && $0.outbox !== first.outbox })
            for other in others { await other.close() }
        }
        #expect(upstream.requests.count == 1)
        #expect(errors.errors.isEmpty)
    }

    private let stage = OutboxStage()

    private func share(_ outboxes: SessionOutboxes, of part: RecordKey, _ upstream: any DataFetcher) -> SessionOutbox {
        outboxes.outbox(of: part, asking: upstream) { dataFetcher in
            Outbox(
                upstream: Upstream(baseURL: Self.url, dataFetcher: dataFetcher),
                store: stage.store,
                prefix: part.appending("outbox"),
                policy: OutboxPolicy(jitter: Jitter { 1 }),
                timer: stage.timer,
                errorHandler: stage.errors
            )
        }
    }

    private static let url = URL(filePath: "/upstream")

    @Test func outboxIsSharedUntilItsLastSessionIsClosed() async throws {
        let stage = stage
        let (older, newer) = (stage.upstream(), stage.upstream())
        try await stage.scheduler.run {
            let outboxes = SessionOutboxes(executor: stage.timer.executor)
            let first = share(outboxes, of: ["7"], older)
            let second = share(outboxes, of: ["7"], newer)
            #expect(first.outbox === second.outbox)
            let other = share(outboxes, of: ["8"], older)
            #expect(other.outbox !== first.outbox)
            let handlers = [RecordingOutboxHandler(), RecordingOutboxHandler()]
            try await first.open(handlers: [handlers[0]])
            try await second.open(handlers: [handlers[1]])
            let one = try await first.outbox.accept([OutboxStage.write(["1"])])[0]
            try await second.outbox.settlement(of: one)
            for handler in handlers { #expect(handler.events.contains(.committed(one))) }

            // The remaining session sends with its own data fetcher, and the closed one is not notified.
            await second.close()
            let told = handlers[1].events
            let two = try await first.outbox.accept([OutboxStage.write(["2"])])[0]
            try await first.outbox.settlement(of: two)
            #expect(handlers[0].events.contains(.committed(two)))
            #expect(handlers[1].events == told)
            let third = share(outboxes, of: ["7"], newer)
            #expect(third.outbox === first.outbox)
            await first.close()
            try await third.open(handlers: [handlers[0]])
            let three = try await third.outbox.accept([OutboxStage.write(["3"])])[0]
            try await third.outbox.settlement(of: three)

            await third.close()
            let error = await #expect(throws: RecordStoreError.self) {
                try await third.outbox.accept([OutboxStage.write(["4"])])
            }
            #expect(error?.reason == .closed)
            let fourth = share(outboxes, of: ["7"], older)
            #expect(fourth.outbox !== third.outbox)
            await fourth.close()
            await other.close()
        }
        #expect(older.done.map(\.url.lastPathComponent) == ["2"])
        #expect(newer.done.map(\.url.lastPathComponent) == ["1", "3"])
        #expect(stage.errors.errors.isEmpty)
    }

    @Test func outboxWithoutSessionsIsReleased() async throws {
        let stage = stage
        try await stage.scheduler.run {
            let outboxes = SessionOutboxes(executor: stage.timer.executor)
            weak var outbox: (any RepositoryOutbox)?
            do {
                let session = share(outboxes, of: ["7"], stage.upstream())
                outbox = session.outbox
                try await session.open(handlers: [stage.handler])
                await session.close()
            }
            #expect(outbox == nil)
            // The next session has nothing to wait for.
            let next = share(outboxes, of: ["7"], stage.upstream())
            try await next.open(handlers: [stage.handler])
            await next.close()
        }
    }

    @Test(arguments: [(2, 2, 2), (60, 0, 5)])
    func deliveringWaitsForAllUsersUntilTheDeadline(limit: Int, pending: Int, elapsed: Int) async throws {
        let stage = stage
        let upstream = stage.upstream(latency: .seconds(5))
        let failure = RecordStoreError(.unavailable, explanation: "It is not there.")
        try await stage.scheduler.run {
            let outboxes = SessionOutboxes(executor: stage.timer.executor)
            let shares = ["7", "8"].map { share(outboxes, of: [$0], upstream) }
            for share in shares {
                try await share.open(handlers: [RecordingOutboxHandler()])
                try await share.outbox.accept([OutboxStage.write(["1"])])
            }
            let result = await outboxes.deliver(by: Deadline(in: .seconds(limit), on: stage.timer))
            #expect(result.pendingCount == pending && result.failures.isEmpty)
            #expect(stage.elapsed == .seconds(elapsed))
            stage.store.fail(with: failure)
            let failed = await outboxes.deliver(by: Deadline(in: .seconds(limit), on: stage.timer))
            #expect(failed.pendingCount == 0 && failed.failures == [failure, failure])
            stage.store.fail(with: nil)
            for share in shares { await share.close() }
        }
    }
}
