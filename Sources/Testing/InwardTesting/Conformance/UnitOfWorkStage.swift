public import InwardCore
package import InwardFetching
package import InwardRepositories
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A unit of work with two repositories, as ``UnitOfWorkConformance`` uses them.
///
/// A repository has numbers by their names. Whoever checks a unit of work of his own says how a change of one is prepared, and how
/// one is read.
public struct UnitOfWorkStage: Sendable {
    /// Which of the repositories is meant.
    public enum Repository: Hashable, Sendable, CaseIterable {
        /// The one.
        case first
        /// The other.
        case second
    }

    let unitOfWork: any UnitOfWork
    let prepare: @Sendable (Repository, String, Int?) async throws -> any PreparedChange
    let read: @Sendable (Repository, String) async throws -> Int?
    let close: @Sendable () async -> Void

    /// Makes a stage.
    ///
    /// - Parameters:
    ///   - unitOfWork: What is checked.
    ///   - prepare: Prepares the change of a repository by which the number of a name becomes another, or is removed if it is
    ///     `nil`.
    ///   - read: Gives what a reader of a repository finds: the number of a name; `nil` if there is none.
    ///   - close: Ends all of it, so that it can be opened again. What it has made durable stays.
    public init(
        _ unitOfWork: any UnitOfWork,
        prepare: @escaping @Sendable (Repository, String, Int?) async throws -> any PreparedChange,
        read: @escaping @Sendable (Repository, String) async throws -> Int?,
        close: @escaping @Sendable () async -> Void = {}
    ) {
        self.unitOfWork = unitOfWork
        self.prepare = prepare
        self.read = read
        self.close = close
    }

    /// Prepares changes and commits them as one.
    func commit(_ changes: [(Repository, String, Int?)]) async throws {
        var prepared: [any PreparedChange] = []
        for (repository, name, number) in changes { prepared.append(try await prepare(repository, name, number)) }
        try await unitOfWork.commit(prepared)
    }

    /// What the readers of both repositories find of a name.
    func numbers(_ name: String) async throws -> [Int?] {
        [try await read(.first, name), try await read(.second, name)]
    }
}

extension UnitOfWorkStage {
    /// A unit of work over an outbox and a store.
    ///
    /// - Parameters:
    ///   - store: What keeps the records and the writes.
    ///   - dataFetcher: The upstream that the writes are delivered to.
    ///   - seed: What the idempotency keys follow from.
    /// - Returns: the stage, whose close closes the outbox.
    /// - Throws: a `RecordStoreError` if the store cannot be read.
    package static func records(
        in store: any RecordStore,
        dataFetcher: any DataFetcher = StubDataFetcher(DataResponse()),
        seed: UInt64
    ) async throws(RecordStoreError) -> UnitOfWorkStage {
        let outbox = Outbox(
            upstream: Upstream(baseURL: URL(filePath: "/"), dataFetcher: dataFetcher),
            store: store,
            // Nothing is sent again while a clock stands still.
            timer: TimerService(ManualClock()),
            generator: SplitMix64(seed: seed),
            errorHandler: IgnoringErrorHandler()
        )
        let first = try await NumberRepository("first", store: store)
        let second = try await NumberRepository("second", store: store)
        try await outbox.open(settling: [first, second])
        return UnitOfWorkStage(
            RecordUnitOfWork(outbox: outbox),
            prepare: { repository, name, number in
                (repository == .first ? first : second).change(name, to: number, in: outbox)
            },
            read: { repository, name in (repository == .first ? first : second).number(name) },
            close: { await outbox.close() }
        )
    }
}

/// A repository of numbers by their names, with a memory in front of its store and an outbox behind: an example of one, and what
/// units of work over outboxes are checked with.
package final class NumberRepository: OutboxHandler {
    package let endpoint: String
    package let operations: [OutboxOperation]
    private let store: any RecordStore
    private let memory: Mutex<[String: Int]>

    /// Reads what a store keeps of a repository.
    package init(_ endpoint: String, store: any RecordStore) async throws(RecordStoreError) {
        self.endpoint = endpoint
        operations = [OutboxOperation(.put, "\(endpoint)/*"), OutboxOperation(.delete, "\(endpoint)/*")]
        self.store = store
        var numbers: [String: Int] = [:]
        for (key, record) in try await store.records(under: [endpoint]) {
            numbers[key.components[1...].joined()] = Int(String(decoding: record.bytes, as: UTF8.self))
        }
        memory = Mutex(numbers)
    }

    /// What readers find: what was committed last, whether or not it is delivered.
    package func number(_ name: String) -> Int? { memory.withLock { $0[name] } }

    /// Prepares the change by which the number of a name becomes another.
    package func change(_ name: String, to number: Int?, in outbox: Outbox) -> PreparedRecordChange {
        let bytes = number.map { Array(String($0).utf8) }
        return PreparedRecordChange(
            "the change of \(name)",
            for: outbox,
            writes: [
                OutboxWrite(
                    endpoint: endpoint,
                    subject: [endpoint, name],
                    method: number == nil ? .delete : .put,
                    path: "\(endpoint)/\(name)",
                    body: bytes
                )
            ],
            changes: [bytes.map { .keep(StoredRecord($0), [endpoint, name]) } ?? .remove([endpoint, name])]
        ) { _ in
            self.memory.withLock { $0[name] = number }
        }
    }

    package func reset(to entries: [OutboxEntry]) {}

    package func accepted(_ entries: [OutboxEntry]) {}

    /// Nothing: the value is there already.
    package func delivered(
        _ entry: OutboxEntry,
        answer: DataResponse,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement {
        OutboxSettlement()
    }

    /// Nothing: no number is refused.
    package func refused(
        _ entry: OutboxEntry,
        because error: RepositoryError,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement {
        OutboxSettlement()
    }
}
