public import InwardCore
public import InwardFetching
public import InwardRepositories
import Synchronization

/// A handler that remembers what it was told, and keeps the body of what was delivered under the subject, behind a key of its own.
public final class RecordingOutboxHandler: OutboxHandler {
    /// What a handler is told or asked.
    public enum Event: Hashable, Sendable {
        /// Of an entry that is pending from now on.
        case accepted(OutboxEntry)
        /// What is to be kept of an entry that was delivered, with so many behind it.
        case delivered(OutboxEntry, later: Int)
        /// What is to be kept of an entry that was refused, with so many behind it.
        case refused(OutboxEntry, because: RepositoryError, later: Int)
        /// That an entry is not pending any more as far as this process knows.
        case forgotten(OutboxEntry)
        /// That what it said of an entry is durable.
        case committed(OutboxEntry)
    }

    /// Operations that allow all of the usual methods at every path of one or two components.
    public static let anyOperation: [OutboxOperation] = ["*", "*/*"].flatMap { path in
        [.post, .put, .patch, .delete].map { OutboxOperation($0, path) }
    }

    /// The name by which writes find it.
    public let endpoint: String
    /// What its writes may do.
    public let operations: [OutboxOperation]
    /// What the bodies are kept under.
    public let values: RecordKey
    private let problem: @Sendable (DataResponse) -> String?
    private let state = Mutex<(events: [Event], failure: RecordStoreError?)>(([], nil))

    /// Makes a handler.
    ///
    /// - Parameters:
    ///   - endpoint: The name by which writes find it.
    ///   - operations: What its writes may do.
    ///   - values: What the bodies of writes that were delivered are kept under; those that were refused are removed there.
    ///   - problem: Why an answer cannot be used, as the end of a sentence; `nil` if it can.
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

    /// What it was told and asked so far, in its order.
    public var events: [Event] { state.withLock(\.events) }

    /// The entries that it was told of and that were not settled since, in the order of their numbers.
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

    /// What the body of a write is kept under once it is delivered.
    public func key(of subject: RecordKey) -> RecordKey { RecordKey(values.components + subject.components) }

    /// Throws this from now on where it is asked; `nil` to answer again.
    public func fail(with error: RecordStoreError?) {
        state.withLock { $0.failure = error }
    }

    /// Remembers which entries it was not told of before, and which of those are not pending any more.
    public func reset(to entries: [OutboxEntry]) {
        state.withLock { state in
            let before = Self.pending(after: state.events)
            let keys = Set(entries.map(\.idempotencyKey))
            let known = Set(before.map(\.idempotencyKey))
            state.events += before.filter { !keys.contains($0.idempotencyKey) }.map { .forgotten($0) }
            state.events += entries.filter { !known.contains($0.idempotencyKey) }.map { .accepted($0) }
        }
    }

    /// Remembers entries.
    public func accepted(_ entries: [OutboxEntry]) {
        state.withLock { $0.events += entries.map { .accepted($0) } }
    }

    /// Has the body kept.
    ///
    /// - Throws: the `RecordStoreError` that it is to fail with.
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

    /// Has what is kept of the subject removed.
    ///
    /// - Throws: the `RecordStoreError` that it is to fail with.
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
