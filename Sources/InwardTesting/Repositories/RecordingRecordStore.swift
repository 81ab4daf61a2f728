public import InterfaceAdapters
import Synchronization

/// A store in front of another that remembers what was committed, and fails when it is told to.
public final class RecordingRecordStore: RecordStore {
    private struct State {
        var commits: [[RecordChange]] = []
        var failure: RecordStoreError?
    }

    private let base: any RecordStore
    private let state: Mutex<State>

    /// Makes a store in front of another.
    ///
    /// - Parameters:
    ///   - base: What keeps the records.
    ///   - failure: What it throws instead of doing what it is asked for; `nil` if it is to do it.
    public init(_ base: any RecordStore = InMemoryRecordStore(), failure: RecordStoreError? = nil) {
        self.base = base
        state = Mutex(State(failure: failure))
    }

    /// The changes that were made so far: of each commit those it was told, in the order in which the commits returned.
    public var commits: [[RecordChange]] { state.withLock(\.commits) }

    /// Throws this from now on instead of doing what it is asked for; `nil` to do it again.
    public func fail(with error: RecordStoreError?) {
        state.withLock { $0.failure = error }
    }

    /// What the other keeps under a key.
    ///
    /// - Throws: the `RecordStoreError` that it is to fail with, or that of the other.
    public func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        try throwFailure()
        return try await base.record(for: key)
    }

    /// What the other keeps under the keys that begin with a key, in order.
    ///
    /// - Throws: the `RecordStoreError` that it is to fail with, or that of the other.
    public func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try throwFailure()
        return try await base.records(under: key)
    }

    /// Has the other make changes, and remembers them if it did.
    ///
    /// - Throws: the `RecordStoreError` that it is to fail with, or that of the other.
    public func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        try throwFailure()
        try await base.commit(changes)
        state.withLock { $0.commits.append(changes) }
    }

    private func throwFailure() throws(RecordStoreError) {
        if let failure = state.withLock(\.failure) { throw failure }
    }
}
