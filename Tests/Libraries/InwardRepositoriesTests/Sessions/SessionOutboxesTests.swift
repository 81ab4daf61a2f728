import Foundation
import InwardCore
import InwardFetching
import InwardTesting
import Testing

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct SessionOutboxesTests {
    /// A handler that takes ten seconds to say that nothing is to be kept.
    private struct SlowSettler: OutboxHandler {
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

    @Test func whoComesWhileTheLastSessionIsClosedTakesNothingFromIt() async throws {
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
            let handler = SlowSettler(timer: timer)
            let first = share()
            try await first.open(settling: handler)
            try await first.outbox.accept([OutboxWrite(endpoint: "posts", subject: ["posts", "new"], path: "posts")])
            // The upstream has answered, and that is being settled.
            try await timer.sleep(for: .seconds(1))
            async let closing: Void = first.close()
            try await timer.sleep(for: .seconds(1))
            let others = [share(), share()]
            for other in others { try await other.open(settling: handler) }
            await closing
            #expect(others.allSatisfy { $0.outbox.pending == [] && $0.outbox !== first.outbox })
            for other in others { await other.close() }
        }
        #expect(upstream.requests.count == 1)
        #expect(errors.errors.isEmpty)
    }
}
