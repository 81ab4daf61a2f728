public import InwardCore
public import InwardFetching
public import InwardRepositories
import Synchronization

/// An outbox handler that records its calls, and stores the body of each delivered write.
///
/// ```swift
/// let handler = RecordingOutboxHandler("comments")
/// let outbox = Outbox(
///     upstream: Upstream(baseURL: CommentClient.baseURL, dataFetcher: IdempotentDataFetcher()),
///     store: InMemoryRecordStore(),
///     generator: SplitMix64(seed: 7),
///     errorHandler: RecordingErrorHandler()
/// )
/// try await outbox.open(handlers: [handler])
/// _ = await outbox.drain()
/// #expect(handler.pending.isEmpty)
/// ```
public final class RecordingOutboxHandler: OutboxHandler {
    /// A call that the handler has received.
    public enum Event: Hashable, Sendable {
        /// An entry was accepted and is now pending.
        case accepted(OutboxEntry)
        /// An entry was delivered. The given number of later entries was still pending.
        case delivered(OutboxEntry, later: Int)
        /// An entry was refused. The given number of later entries was still pending.
        case refused(OutboxEntry, because: RepositoryError, later: Int)
        /// An entry was missing from a list of all pending entries that the outbox reported.
        case forgotten(OutboxEntry)
        /// The settlement of an entry is durable.
        case committed(OutboxEntry)
    }

    /// Operations that allow `POST`, `PUT`, `PATCH` and `DELETE` at every path of one or two components.
    public static let anyOperation: [OutboxOperation] = ["*", "*/*"].flatMap { path in
        [.post, .put, .patch, .delete].map { OutboxOperation($0, path) }
    }

    /// The name that routes writes to the handler.
    public let endpoint: String
    /// The operations that its writes may use.
    public let operations: [OutboxOperation]
    /// The key under which the bodies are stored.
    public let values: RecordKey
    private let problem: @Sendable (DataResponse) -> String?
    private let state = Mutex<(events: [Event], failure: RecordStoreError?)>(([], nil))

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - endpoint: The name that routes writes to the handler.
    ///   - operations: The operations that its writes may use.
    ///   - values: The key under which the bodies of delivered writes are stored. A refused write removes the body that is
    ///     stored for its subject.
    ///   - problem: Returns why a response is unusable, as the end of a sentence, or `nil` if it is usable.
    public init(
        _ endpoint: String = "posts",
        operations: [OutboxOperation] = anyOperation,
        values: RecordKey = ["values"],
        problem: @escaping @Sendable (DataResponse) -> String? = { _ in nil }
    ) {
        self.endpoint = endpoint
        self.operations = operations
        self.values = values
        self.problem = problem
    }

    /// The calls so far, in order.
    public var events: [Event] { state.withLock(\.events) }

    /// The accepted entries that are not settled yet, in the order of their sequence numbers.
    public var pending: [OutboxEntry] { Self.pending(after: events) }

    private static func pending(after events: [Event]) -> [OutboxEntry] {
        events.reduce(into: [OutboxEntry]()) { pending, event in
            switch event {
            case .accepted(let entry): pending.append(entry)
            case .committed(let entry), .forgotten(let entry):
                pending.removeAll { $0.idempotencyKey == entry.idempotencyKey }
            case .delivered, .refused: break
            }
        }
        .sorted { $0.sequence < $1.sequence }
    }

    /// Returns the key under which a delivered write's body is stored.
    public func key(of subject: RecordKey) -> RecordKey { RecordKey(values.components + subject.components) }

    /// Makes calls throw an error from now on, or succeed again if the error is `nil`.
    public func fail(with error: RecordStoreError?) {
        state.withLock { $0.failure = error }
    }

    /// Records the new entries as accepted, and the entries that are no longer pending as forgotten.
    public func reset(to entries: [OutboxEntry]) {
        state.withLock { state in
            let before = Self.pending(after: state.events)
            let keys = Set(entries.map(\.idempotencyKey))
            let known = Set(before.map(\.idempotencyKey))
            state.events += before.filter { !keys.contains($0.idempotencyKey) }.map { .forgotten($0) }
            state.events += entries.filter { !known.contains($0.idempotencyKey) }.map { .accepted($0) }
        }
    }

    /// Records accepted entries.
    public func accepted(_ entries: [OutboxEntry]) {
        state.withLock { $0.events += entries.map { .accepted($0) } }
    }

    /// Returns a settlement that stores the body.
    ///
    /// - Throws: The prescribed `RecordStoreError`.
    public func delivered(
        _ entry: OutboxEntry,
        answer: DataResponse,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement {
        try note(.delivered(entry, later: later.all.count))
        return OutboxSettlement(
            [.keep(StoredRecord(entry.write.body ?? []), key(of: entry.write.subject))],
            problem: problem(answer)
        ) { self.commit(entry) }
    }

    /// Returns a settlement that removes the record of the subject.
    ///
    /// - Throws: The prescribed `RecordStoreError`.
    public func refused(
        _ entry: OutboxEntry,
        because error: RepositoryError,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement {
        try note(.refused(entry, because: error, later: later.all.count))
        return OutboxSettlement([.remove(key(of: entry.write.subject))]) { self.commit(entry) }
    }

    private func commit(_ entry: OutboxEntry) {
        state.withLock { $0.events.append(.committed(entry)) }
    }

    private func note(_ event: Event) throws(RecordStoreError) {
        try state.withLock { state throws(RecordStoreError) in
            if let failure = state.failure { throw failure }
            state.events.append(event)
        }
    }
}
