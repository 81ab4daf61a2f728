public import InwardRepositories
import Synchronization

/// A store in front of another that remembers what was committed, and fails when it is told to.
public final class RecordingRecordStore: RecordStore {
    private struct State {
        var commits: [[RecordChange]] = []
        var failure: RecordStoreError?
        var lostKeys: Set<RecordKey> = []
        var unknownLossCount = 0
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

    /// Loses the record under a key, as damage would: reads do not give it, and ``losses(under:)`` names its key until a commit
    /// keeps or removes something under it.
    public func lose(_ key: RecordKey) {
        state.withLock { _ = $0.lostKeys.insert(key) }
    }

    /// Counts damage that hit unknown keys. Lose the record that is meant to be missing with a commit to the other store.
    public func loseUnknown() {
        state.withLock { $0.unknownLossCount += 1 }
    }

    /// What the other keeps under a key.
    ///
    /// - Throws: the `RecordStoreError` that it is to fail with, or that of the other.
    public func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        try throwFailure()
        let record = try await base.record(for: key)
        return state.withLock { $0.lostKeys.contains(key) } ? nil : record
    }

    /// What the other keeps under the keys that begin with a key, in order.
    ///
    /// - Throws: the `RecordStoreError` that it is to fail with, or that of the other.
    public func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try throwFailure()
        let records = try await base.records(under: key)
        let lostKeys = state.withLock(\.lostKeys)
        return records.filter { !lostKeys.contains($0.key) }
    }

    /// Returns the losses of the other store and those that this one was told to have.
    ///
    /// - Throws: the `RecordStoreError` that it is to fail with, or that of the other.
    public func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses {
        try throwFailure()
        let losses = try await base.losses(under: key)
        let (lostKeys, unknownLossCount) = state.withLock { ($0.lostKeys, $0.unknownLossCount) }
        return RecordLosses(
            keys: Set(losses.keys).union(lostKeys.filter(key.contains)).sorted(),
            unknownCount: losses.unknownCount + unknownLossCount
        )
    }

    /// Has the other make changes, and remembers them if it did.
    ///
    /// - Throws: the `RecordStoreError` that it is to fail with, or that of the other.
    public func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        try throwFailure()
        try await base.commit(changes)
        state.withLock { state in
            state.commits.append(changes)
            for change in changes {
                switch change {
                case .keep(_, let key), .remove(let key): state.lostKeys.remove(key)
                case .removeAll(let key): state.lostKeys = state.lostKeys.filter { !key.contains($0) }
                }
            }
        }
    }

    /// Has the other claim a key.
    ///
    /// - Throws: the `RecordStoreError` that it is to fail with, or that of the other.
    public func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult {
        try throwFailure()
        return try await base.claim(key)
    }

    private func throwFailure() throws(RecordStoreError) {
        if let failure = state.withLock(\.failure) { throw failure }
    }
}
