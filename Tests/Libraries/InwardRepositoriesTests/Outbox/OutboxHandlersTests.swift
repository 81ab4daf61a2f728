import InwardCore
import InwardFetching
import Testing

@testable import InwardRepositories

struct OutboxHandlersTests {
    /// A handler that logs its calls in a log that it shares with others.
    private struct NotingHandler: OutboxHandler {
        let endpoint: String
        let log: WorkLog
        let operations = [OutboxOperation(.post, "*")]

        func reset(to entries: [OutboxEntry]) { log.note("reset \(endpoint) to \(entries.count)") }

        func accepted(_ entries: [OutboxEntry]) { log.note("accepted \(endpoint)") }

        func delivered(
            _ entry: OutboxEntry,
            answer: DataResponse,
            before later: LaterEntries
        ) async throws(RecordStoreError) -> OutboxSettlement { OutboxSettlement() }

        func refused(
            _ entry: OutboxEntry,
            because error: RepositoryError,
            before later: LaterEntries
        ) async throws(RecordStoreError) -> OutboxSettlement { OutboxSettlement() }
    }

    private let log = WorkLog()

    private func entry(_ sequence: Int, _ endpoint: String) -> OutboxEntry {
        OutboxEntry(
            sequence: sequence,
            write: OutboxStage.write(["7"], endpoint: endpoint),
            idempotencyKey: "k\(sequence)",
            acceptedAt: OutboxStage.time,
            attempts: 0
        )
    }

    /// A fixed order makes runs with the same seed equal.
    @Test func handlersAreNotifiedInTheOrderOfTheirEndpoints() {
        var handlers = OutboxHandlers()
        let names = ["c", "e", "a", "d", "b"]
        _ = handlers.add(Dictionary(uniqueKeysWithValues: names.map { ($0, NotingHandler(endpoint: $0, log: log)) }))
        let entries = names.enumerated().map { entry($0.offset, $0.element) }
        handlers.reset(to: entries)
        handlers.tell(of: entries)
        let sorted = names.sorted()
        #expect(log.all == sorted.map { "reset \($0) to 1" } + sorted.map { "accepted \($0)" })
    }

    /// The entries are those of no, one or several endpoints, some without a handler.
    @Test(arguments: [[], ["a"], ["b"], ["a", "b"], ["b", "a"], ["a", "a"], ["c"], ["c", "a"], ["a", "c", "b"]])
    func eachHandlerIsNotifiedOnlyOfEntriesOfItsEndpoint(names: [String]) {
        var handlers = OutboxHandlers()
        let endpoints = ["a", "b"]
        _ = handlers.add(
            Dictionary(uniqueKeysWithValues: endpoints.map { ($0, NotingHandler(endpoint: $0, log: log)) })
        )
        handlers.tell(of: names.enumerated().map { entry($0.offset, $0.element) })
        #expect(log.all == endpoints.filter(names.contains).map { "accepted \($0)" })
    }
}
