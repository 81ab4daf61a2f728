import InwardCore
import InwardFetching
import InwardTesting
import TestSupport

@testable import InwardRepositories

/// A handler with the terms and decisions of a test, which otherwise records its calls.
struct DecidingHandler: OutboxHandler {
    let base: RecordingOutboxHandler
    var terms = OutboxTerms()
    var prepare: @Sendable (OutboxEntry) -> OutboxPreparation = { _ in .ready }
    var resolve: @Sendable (OutboxEntry) -> OutboxResolution? = { _ in nil }
    /// The bodies of the entries that were shown again.
    let revisions = Journal()

    var endpoint: String { base.endpoint }
    var operations: [OutboxOperation] { base.operations }

    func reset(to entries: [OutboxEntry]) { base.reset(to: entries) }
    func accepted(_ entries: [OutboxEntry]) { base.accepted(entries) }
    func revised(_ entries: [OutboxEntry]) {
        for entry in entries { revisions.add(String(decoding: entry.write.body ?? [], as: UTF8.self)) }
    }

    func preparation(of entry: OutboxEntry) async throws(RecordStoreError) -> OutboxPreparation { prepare(entry) }

    func resolution(
        of entry: OutboxEntry,
        because error: RepositoryError
    ) async throws(RecordStoreError) -> OutboxResolution? { resolve(entry) }

    func delivered(
        _ entry: OutboxEntry,
        answer: DataResponse,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement {
        try await base.delivered(entry, answer: answer, before: later)
    }

    func refused(
        _ entry: OutboxEntry,
        because error: RepositoryError,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement {
        try await base.refused(entry, because: error, before: later)
    }
}
