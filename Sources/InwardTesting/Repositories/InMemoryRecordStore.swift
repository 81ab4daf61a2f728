public import InterfaceAdapters
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A store of records that are kept in memory, for the tests of whatever uses one.
///
/// What is durable here is so until nobody has the store any more.
public final class InMemoryRecordStore: RecordStore {
    private struct State {
        var records: [RecordKey: StoredRecord] = [:]
        var commits: [[RecordChange]] = []
        var failure: RecordStoreError?
    }

    private let state: Mutex<State>
    private let now: @Sendable () -> Date

    /// Makes a store that keeps nothing yet.
    ///
    /// - Parameters:
    ///   - now: The time, by which records expire.
    ///   - failure: What it throws instead of doing what it is asked for; `nil` if it is to do it.
    public init(now: @escaping @Sendable () -> Date = { Date() }, failure: RecordStoreError? = nil) {
        self.now = now
        state = Mutex(State(failure: failure))
    }

    /// The changes that were made so far: of each commit those it was told, in its order.
    public var commits: [[RecordChange]] { state.withLock(\.commits) }

    /// Throws this from now on instead of doing what it is asked for; `nil` to do it again.
    public func fail(with error: RecordStoreError?) {
        state.withLock { $0.failure = error }
    }

    /// What is kept under a key; `nil` if nothing is, or if it has expired.
    ///
    /// - Throws: the `RecordStoreError` that it is to fail with, or `cancelled`.
    public func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        let time = now()
        return try answer { state in
            state.records[key].flatMap { $0.isExpired(at: time) ? nil : $0 }
        }
    }

    /// The keys that begin with a key and what is kept under each, in order.
    ///
    /// - Throws: the `RecordStoreError` that it is to fail with, or `cancelled`.
    public func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        let time = now()
        return try answer { state in
            state.records.filter { key.contains($0.key) && !$0.value.isExpired(at: time) }
        }
        .sorted { $0.key < $1.key }
        .map { (key: $0.key, record: $0.value) }
    }

    /// Makes changes in their order, all of them or none.
    ///
    /// - Throws: the `RecordStoreError` that it is to fail with, or `cancelled`.
    public func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        try answer { state in
            state.commits.append(changes)
            for change in changes {
                switch change {
                case .keep(let record, let key): state.records[key] = record
                case .remove(let key): state.records[key] = nil
                case .removeAll(let key): state.records = state.records.filter { !key.contains($0.key) }
                }
            }
        }
    }

    private func answer<Answer: Sendable>(
        _ body: (inout State) -> Answer
    ) throws(RecordStoreError) -> Answer {
        guard !Task.isCancelled else {
            throw RecordStoreError(.cancelled, explanation: "The task was cancelled before the store was asked.")
        }
        return try state.withLock { state throws(RecordStoreError) in
            if let failure = state.failure { throw failure }
            return body(&state)
        }
    }
}
