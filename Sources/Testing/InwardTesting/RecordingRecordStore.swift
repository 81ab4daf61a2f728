public import InwardRepositories
import Synchronization

/// A record store that passes calls to another store, records commits, and fails on demand.
///
/// ```swift
/// let store = RecordingRecordStore()
/// try await store.commit([.keep(StoredRecord([1]), ["comments", "7"])])
/// store.fail(with: RecordStoreError(.full, explanation: "There is no space left."))
/// await #expect(throws: RecordStoreError.self) { try await store.record(for: ["comments", "7"]) }
/// ```
public final class RecordingRecordStore: RecordStore {
    private struct State {
        var commits: [[RecordChange]] = []
        var failure: RecordStoreError?
        var lostKeys: Set<RecordKey> = []
        var unknownLossCount = 0
    }

    private let base: any RecordStore
    private let state: Mutex<State>

    /// Creates a store in front of another one.
    ///
    /// - Parameters:
    ///   - base: The store that holds the records.
    ///   - failure: The error that calls throw, or `nil` to pass them to the base.
    public init(_ base: any RecordStore = InMemoryRecordStore(), failure: RecordStoreError? = nil) {
        self.base = base
        state = Mutex(State(failure: failure))
    }

    /// The changes of each successful commit so far, in the order in which the commits returned.
    public var commits: [[RecordChange]] { state.withLock(\.commits) }

    /// Makes calls throw an error from now on, or pass them to the base again if the error is `nil`.
    public func fail(with error: RecordStoreError?) {
        state.withLock { $0.failure = error }
    }

    /// Loses the record for a key, as if it were damaged. Until a commit stores or removes a record under the key, reads do not
    /// return the record, and ``losses(under:)`` lists the key.
    public func lose(_ key: RecordKey) {
        state.withLock { _ = $0.lostKeys.insert(key) }
    }

    /// Adds 1 to the number of losses whose keys are unknown. All records remain. To make one disappear as well, remove it from
    /// the base.
    public func loseUnknown() {
        state.withLock { $0.unknownLossCount += 1 }
    }

    /// Returns the base's record for a key.
    ///
    /// - Throws: The prescribed `RecordStoreError`, or the error of the base.
    public func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        try throwFailure()
        let record = try await base.record(for: key)
        return state.withLock { $0.lostKeys.contains(key) } ? nil : record
    }

    /// Returns the base's records whose keys begin with a key, in order.
    ///
    /// - Throws: The prescribed `RecordStoreError`, or the error of the base.
    public func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try throwFailure()
        let records = try await base.records(under: key)
        let lostKeys = state.withLock(\.lostKeys)
        return records.filter { !lostKeys.contains($0.key) }
    }

    /// Returns the losses of the base and the simulated ones.
    ///
    /// - Throws: The prescribed `RecordStoreError`, or the error of the base.
    public func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses {
        try throwFailure()
        let losses = try await base.losses(under: key)
        let (lostKeys, unknownLossCount) = state.withLock { ($0.lostKeys, $0.unknownLossCount) }
        return RecordLosses(
            keys: Set(losses.keys).union(lostKeys.filter(key.contains)).sorted(),
            unknownCount: losses.unknownCount + unknownLossCount
        )
    }

    /// Commits changes to the base, and records them on success.
    ///
    /// - Throws: The prescribed `RecordStoreError`, or the error of the base.
    public func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        try throwFailure()
        try await base.commit(changes)
        state.withLock { state in
            state.commits.append(changes)
            for change in changes {
                switch change {
                case .keep(_, let key), .remove(let key): state.lostKeys.remove(key)
                case .removeAll(let key): state.lostKeys = state.lostKeys.filter { !key.contains($0) }
                case .announce: break
                }
            }
        }
    }

    /// Claims a key in the base.
    ///
    /// - Throws: The prescribed `RecordStoreError`, or the error of the base.
    public func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult {
        try throwFailure()
        return try await base.claim(key)
    }

    private func throwFailure() throws(RecordStoreError) {
        if let failure = state.withLock(\.failure) { throw failure }
    }
}
