public import InwardCore

/// A unit of work over an outbox and its store. It commits the record changes and writes of several repositories at once.
///
///     if let change = try posts.prepareCreation(of: draft, "the publication of a post") {
///         try await RecordUnitOfWork(outbox: outbox).commit([change])
///     }
///
/// A commit is as durable as the store. With an ``InMemoryRecordStore`` it is atomic but is lost when the process ends; with a file
/// store it outlives the process.
public struct RecordUnitOfWork: UnitOfWork {
    private let outbox: Outbox

    /// Creates a unit of work for changes that repositories prepare for an outbox.
    public init(outbox: Outbox) {
        self.outbox = outbox
    }

    /// Makes changes in order, all of them or none.
    ///
    /// - Throws: a `UnitOfWorkError` if nothing was changed: `foreign` if a change was prepared for another outbox or is not a
    ///   ``PreparedRecordChange``.
    public func commit(_ changes: [any PreparedChange]) async throws(UnitOfWorkError) {
        try await entries(committing: changes)
    }

    /// Makes changes in order, all of them or none, and returns their entries, so that the caller can wait for the
    /// ``Outbox/settlement(of:)`` of one.
    ///
    /// - Returns: the entries, in the order of the changes.
    /// - Throws: a `UnitOfWorkError` if nothing was changed, as ``commit(_:)`` does.
    @discardableResult
    public func entries(
        committing changes: [any PreparedChange]
    ) async throws(UnitOfWorkError) -> [OutboxEntry] {
        var prepared: [PreparedRecordChange] = []
        for change in changes {
            guard let own = change as? PreparedRecordChange, own.outbox === outbox else {
                throw UnitOfWorkError(
                    .foreign,
                    explanation: """
                        Nothing was changed: \(change) was prepared for another unit of work. Prepare it with a repository of this \
                        one.
                        """
                )
            }
            prepared.append(own)
        }
        guard !prepared.isEmpty else { return [] }
        do {
            return try await outbox.accept(prepared.flatMap(\.writes), with: prepared.flatMap(\.changes)) { entries in
                var rest = entries[...]
                for change in prepared {
                    change.whenCommitted(Array(rest.prefix(change.writes.count)))
                    rest = rest.dropFirst(change.writes.count)
                }
            }
        } catch {
            throw UnitOfWorkError(error)
        }
    }
}

extension UnitOfWorkError {
    fileprivate init(_ error: RecordStoreError) {
        let reason: Reason =
            switch error.reason {
            case .full: .full
            case .denied: .denied
            case .closed: .closed
            case .cancelled: .cancelled
            case .busy, .unavailable: .unavailable
            }
        self.init(reason, explanation: error.explanation)
    }
}

/// A prepared change of a repository: writes for the upstream, and immediate changes of the store.
///
/// A repository creates it, and a ``RecordUnitOfWork`` over the same outbox commits it.
public struct PreparedRecordChange: PreparedChange {
    /// What is changed, as part of a sentence.
    public let description: String
    let outbox: Outbox
    let writes: [OutboxWrite]
    let changes: [RecordChange]
    let whenCommitted: @Sendable ([OutboxEntry]) -> Void

    /// Creates a prepared change.
    ///
    /// - Parameters:
    ///   - description: What is changed, as part of a sentence: `the publication of a post`. It must not contain credentials.
    ///   - outbox: The outbox that delivers the writes, and whose store the changes are for.
    ///   - writes: The writes to deliver.
    ///   - changes: The changes to make in the store with the commit.
    ///   - whenCommitted: Called with the entries of the writes once they are durable, for example to update a memory cache. It is
    ///     called once for each commit, after ``OutboxHandler/accepted(_:)``, and must return quickly.
    public init(
        _ description: String,
        for outbox: Outbox,
        writes: [OutboxWrite] = [],
        changes: [RecordChange] = [],
        whenCommitted: @escaping @Sendable ([OutboxEntry]) -> Void = { _ in }
    ) {
        self.description = description
        self.outbox = outbox
        self.writes = writes
        self.changes = changes
        self.whenCommitted = whenCommitted
    }
}
