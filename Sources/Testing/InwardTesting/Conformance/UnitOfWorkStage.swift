public import InwardCore
public import InwardFetching
public import InwardRepositories
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A unit of work with two repositories, for ``UnitOfWorkConformance``.
///
/// Each repository maps names to numbers. To check your own unit of work, pass closures that prepare a change and read a
/// number:
///
/// ```swift
/// protocol Ledger: UnitOfWork {
///     func change(_ name: String, to number: Int?, in table: String) async throws -> any PreparedChange
///     func number(_ name: String, in table: String) async throws -> Int?
/// }
///
/// func stage(of ledger: some Ledger) -> UnitOfWorkStage {
///     UnitOfWorkStage(
///         ledger,
///         prepare: { table, name, number in try await ledger.change(name, to: number, in: "\(table)") },
///         read: { table, name in try await ledger.number(name, in: "\(table)") }
///     )
/// }
/// ```
public struct UnitOfWorkStage: Sendable {
    /// Identifies one of the two repositories.
    public enum Repository: Hashable, Sendable, CaseIterable {
        /// The first repository.
        case first
        /// The second repository.
        case second
    }

    let unitOfWork: any UnitOfWork
    let prepare: @Sendable (Repository, String, Int?) async throws -> any PreparedChange
    let read: @Sendable (Repository, String) async throws -> Int?
    let close: @Sendable () async -> Void

    /// Creates a stage.
    ///
    /// - Parameters:
    ///   - unitOfWork: The unit of work to check.
    ///   - prepare: Prepares a change that sets the number for a name in a repository, or removes it if the number is `nil`.
    ///   - read: Returns the number for a name as a reader of the repository sees it, or `nil` if there is none.
    ///   - close: Closes everything, so that it can be opened again. Durable changes must remain.
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

    /// Prepares changes and commits them together.
    func commit(_ changes: [(Repository, String, Int?)]) async throws {
        var prepared: [any PreparedChange] = []
        for (repository, name, number) in changes { prepared.append(try await prepare(repository, name, number)) }
        try await unitOfWork.commit(prepared)
    }

    /// Returns the numbers for a name in both repositories.
    func numbers(_ name: String) async throws -> [Int?] {
        [try await read(.first, name), try await read(.second, name)]
    }
}

extension UnitOfWorkStage {
    /// Opens a `RecordUnitOfWork` with an outbox and two repositories over a store, to check that the store works for them.
    ///
    /// ```swift
    /// try await UnitOfWorkConformance(isDurable: false).check { _ in
    ///     try await .records(in: InMemoryRecordStore(), seed: 1)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - store: The store for the records and the writes.
    ///   - dataFetcher: The upstream that receives the writes.
    ///   - seed: The seed of the idempotency keys.
    /// - Returns: The stage. Closing it closes the outbox.
    /// - Throws: A `RecordStoreError` if the store cannot be read.
    public static func records(
        in store: any RecordStore,
        dataFetcher: any DataFetcher = StubDataFetcher(DataResponse()),
        seed: UInt64
    ) async throws(RecordStoreError) -> UnitOfWorkStage {
        let outbox = Outbox(
            upstream: Upstream(baseURL: URL(filePath: "/"), dataFetcher: dataFetcher),
            store: store,
            // The clock never advances, so the outbox does not retry.
            timer: TimerService(ManualClock()),
            generator: SplitMix64(seed: seed),
            errorHandler: IgnoringErrorHandler()
        )
        let first = try await NumberRepository("first", store: store)
        let second = try await NumberRepository("second", store: store)
        try await outbox.open(handlers: [first, second])
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

/// A repository that maps names to numbers, with an in-memory copy of its store and an outbox for its writes. It is used to
/// check units of work with outboxes, and as an example.
package final class NumberRepository: OutboxHandler {
    package let endpoint: String
    package let operations: [OutboxOperation]
    private let store: any RecordStore
    private let memory: Mutex<[String: Int]>

    /// Creates a repository from its records in a store.
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

    /// Returns the latest committed number for a name, whether or not it has been delivered.
    package func number(_ name: String) -> Int? { memory.withLock { $0[name] } }

    /// Prepares a change that sets the number for a name.
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

    /// Does nothing, because the value is already stored.
    package func delivered(
        _ entry: OutboxEntry,
        answer: DataResponse,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement {
        OutboxSettlement()
    }

    /// Does nothing, because no number is refused.
    package func refused(
        _ entry: OutboxEntry,
        because error: RepositoryError,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement {
        OutboxSettlement()
    }
}
