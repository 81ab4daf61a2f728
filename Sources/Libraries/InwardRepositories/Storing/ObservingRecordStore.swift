public import InwardCore

extension RecordStore {
    /// Returns a store that reports each operation and its duration to an observer.
    ///
    /// ```swift
    /// func observed(_ observer: any RepositoryObserver) -> any RecordStore {
    ///     InMemoryRecordStore().observing(with: observer)
    /// }
    /// ```
    ///
    /// Use it for a store that you read and write yourself. A ``Repository`` or an ``Outbox`` with an observer already observes
    /// its store.
    ///
    /// - Parameters:
    ///   - observer: The observer, or `nil` for none.
    ///   - timer: The timer service that measures durations.
    /// - Returns: the observed store, or this store if there is no observer.
    public func observing(
        with observer: (any RepositoryObserver)?,
        timer: TimerService = .continuous
    ) -> any RecordStore {
        observer.map { ObservingRecordStore(base: self, observer: $0, timer: timer) } ?? self
    }
}

/// A record store that reports each operation to an observer.
struct ObservingRecordStore<Base: RecordStore>: RecordStore {
    let base: Base
    let observer: any RepositoryObserver
    let timer: TimerService

    func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        try await timed(StoreOperation(.read)) { () async throws(RecordStoreError) in try await base.record(for: key) }
    }

    func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try await timed(StoreOperation(.list)) { () async throws(RecordStoreError) in
            try await base.records(under: key)
        }
    }

    func records(for keys: [RecordKey]) async throws(RecordStoreError) -> [StoredRecord?] {
        try await timed(StoreOperation(.read)) { () async throws(RecordStoreError) in try await base.records(for: keys)
        }
    }

    func records(
        under key: RecordKey,
        after last: RecordKey?,
        limit: Int
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try await timed(StoreOperation(.list)) { () async throws(RecordStoreError) in
            try await base.records(under: key, after: last, limit: limit)
        }
    }

    func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses {
        try await timed(StoreOperation(.check)) { () async throws(RecordStoreError) in
            try await base.losses(under: key)
        }
    }

    func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        try await timed(StoreOperation(.commit, changeCount: changes.count)) { () async throws(RecordStoreError) in
            try await base.commit(changes)
        }
    }

    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult {
        try await timed(StoreOperation(.claim)) { () async throws(RecordStoreError) in try await base.claim(key) }
    }

    fileprivate func timed<Value: Sendable>(
        _ operation: StoreOperation,
        _ work: () async throws(RecordStoreError) -> Value
    ) async throws(RecordStoreError) -> Value {
        let start = timer.now
        do throws(RecordStoreError) {
            let value = try await observer.surround(.store(operation), work)
            observer.storeOperationEnded(operation, nil, after: timer.now - start)
            return value
        } catch {
            observer.storeOperationEnded(operation, error, after: timer.now - start)
            throw error
        }
    }
}

extension ObservingRecordStore: SharedRecordStore where Base: SharedRecordStore {
    func snapshots(for keys: [RecordKey]) async throws(RecordStoreError) -> [RecordSnapshot?] {
        try await timed(StoreOperation(.read)) { () async throws(RecordStoreError) in
            try await base.snapshots(for: keys)
        }
    }

    func commit(_ changes: [RecordChange], if conditions: [RecordCondition]) async throws(RecordStoreError) {
        // A conflict is an answer of the store, and no failure.
        let conflict = try await timed(StoreOperation(.commit, changeCount: changes.count)) {
            () async throws(RecordStoreError) -> RecordStoreError? in
            do throws(RecordStoreError) {
                try await base.commit(changes, if: conditions)
                return nil
            } catch {
                guard error.reason == .conflict else { throw error }
                return error
            }
        }
        if let conflict { throw conflict }
    }

    func lease(
        under key: RecordKey,
        limit: Int,
        for duration: Duration
    ) async throws(RecordStoreError) -> [(lease: RecordLease, snapshot: RecordSnapshot)] {
        try await base.lease(under: key, limit: limit, for: duration)
    }

    func extend(_ lease: RecordLease, for duration: Duration) async throws(RecordStoreError) -> Bool {
        try await base.extend(lease, for: duration)
    }

    func announcements(under key: RecordKey) -> RecordAnnouncements { base.announcements(under: key) }
}

/// An operation of a record store, for a ``RepositoryObserver``.
///
/// ```swift
/// struct SlowCommitPrinter: RepositoryObserver {
///     func storeOperationEnded(_ operation: StoreOperation, _ error: RecordStoreError?, after duration: Duration) {
///         if operation.name == .commit, duration > .seconds(1) { print("A \(operation) took \(duration).") }
///     }
/// }
/// ```
public struct StoreOperation: Hashable, Sendable, CustomStringConvertible {
    /// The kinds of operation. Future versions may add more.
    public struct Name: Hashable, Sendable, CustomStringConvertible {
        /// Reads one record.
        public static let read = Self("read")
        /// Reads all records under a key.
        public static let list = Self("list")
        /// Looks for lost records.
        public static let check = Self("check")
        /// Makes changes durable.
        public static let commit = Self("commit")
        /// Claims a key.
        public static let claim = Self("claim")

        /// The name of the kind.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }
    }

    /// The kind of operation.
    public let name: Name
    /// The number of changes of a commit, or 0 for other operations.
    public let changeCount: Int

    /// Creates an operation.
    ///
    /// - Parameters:
    ///   - name: The kind of operation.
    ///   - changeCount: The number of changes of a commit.
    public init(_ name: Name, changeCount: Int = 0) {
        self.name = name
        self.changeCount = changeCount
    }

    /// The kind of operation, and the number of changes if there are any.
    public var description: String { changeCount > 0 ? "\(name) of \(changeCount)" : "\(name)" }
}
