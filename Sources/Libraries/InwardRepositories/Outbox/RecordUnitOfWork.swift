public import InwardCore

/// A unit of work over an outbox and its store: one commit of the store for all record changes and all writes of all repositories.
///
/// It is as durable as the store is: with an ``InMemoryRecordStore`` all of the changes are seen or none, and all are gone with the
/// process; with a store of files they outlive it.
public struct RecordUnitOfWork: UnitOfWork {
    private let outbox: Outbox

    /// Makes a unit of work of the changes that repositories prepare for an outbox.
    public init(outbox: Outbox) {
        self.outbox = outbox
    }

    /// Makes changes in their order, all of them or none.
    ///
    /// - Throws: a `UnitOfWorkError` if nothing was changed; with `foreign` if one of the changes was prepared for another
    ///   outbox, or is no ``PreparedRecordChange``.
    public func commit(_ changes: [any PreparedChange]) async throws(UnitOfWorkError) {
        try await entries(committing: changes)
    }

    /// Makes changes in their order, all of them or none, and gives what their writes became, for whoever waits for the
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

/// A change of a repository whose records are in a store: writes for the upstream, and what is changed in the store at once.
///
/// A repository makes one, and a ``RecordUnitOfWork`` over the same outbox commits it.
public struct PreparedRecordChange: PreparedChange {
    /// What is changed, as a part of a sentence.
    public let description: String
    let outbox: Outbox
    let writes: [OutboxWrite]
    let changes: [RecordChange]
    let whenCommitted: @Sendable ([OutboxEntry]) -> Void

    /// Prepares a change.
    ///
    /// - Parameters:
    ///   - description: What is changed, as a part of a sentence: `the publication of a post`. Free of credentials.
    ///   - outbox: What delivers the writes, and whose store the changes are for.
    ///   - writes: What is to be done at the upstream.
    ///   - changes: What is changed in the store as soon as it is committed.
    ///   - whenCommitted: What is done as soon as all that is durable, with the entries that the writes became: such as to
    ///     change what readers find in memory. It is called once for each commit, behind
    ///     ``OutboxHandler/accepted(_:)``, and returns soon.
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
