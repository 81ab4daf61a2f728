import InwardCore
import InwardFetching
import InwardRepositories
import InwardTesting

/// A handler that takes ten seconds to settle a write.
struct SlowOutboxHandler: OutboxHandler {
    let base: RecordingOutboxHandler
    let timer: TimerService

    var endpoint: String { base.endpoint }
    var operations: [OutboxOperation] { base.operations }

    func reset(to entries: [OutboxEntry]) { base.reset(to: entries) }

    func accepted(_ entries: [OutboxEntry]) { base.accepted(entries) }

    func delivered(
        _ entry: OutboxEntry,
        answer: DataResponse,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement {
        try? await timer.sleep(for: .seconds(10))
        return try await base.delivered(entry, answer: answer, before: later)
    }

    func refused(
        _ entry: OutboxEntry,
        because error: RepositoryError,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement {
        try? await timer.sleep(for: .seconds(10))
        return try await base.refused(entry, because: error, before: later)
    }
}
