public import InwardCore

/// A unit of work over an outbox. It accepts the writes of several repositories with one commit of the store, all of them or
/// none.
///
/// ```swift
/// func replace(_ old: Int, by draft: CommentDraft, in comments: Repository<Comment>, _ outbox: Outbox) async throws {
///     let changes = [
///         try comments.prepareCreation(of: draft, "the new comment"),
///         try await comments.prepareDeletion(of: old, "the deletion of the old comment"),
///     ]
///     try await RecordUnitOfWork(outbox: outbox).commit(changes.compactMap { $0 })
/// }
/// ```
///
/// A commit is as durable as the outbox's store. The upstream still receives each write as a request of its own, and may refuse
/// one of them.
public struct RecordUnitOfWork: UnitOfWork {
    private let outbox: any RepositoryOutbox

    /// Creates a unit of work for changes that repositories prepare for an outbox.
    public init(outbox: any RepositoryOutbox) {
        self.outbox = outbox
    }

    /// Commits changes in order, all of them or none.
    ///
    /// - Throws: a `UnitOfWorkError`. Then nothing was changed. The reason is `foreign` if a change was prepared for another
    ///   outbox or is not a ``PreparedRecordChange``, and `full`, `denied`, `closed`, `cancelled` or `unavailable` if the
    ///   outbox does not accept the writes.
    public func commit(_ changes: [any PreparedChange]) async throws(UnitOfWorkError) {
        try await entries(committing: changes)
    }

    /// Commits changes in order, all of them or none, and returns the entries of their writes.
    ///
    /// Pass an entry to ``Outbox/settlement(of:)`` to wait until the write is delivered or refused.
    ///
    /// - Returns: the entries, in the order of the changes.
    /// - Throws: the same errors as ``commit(_:)``.
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
                        Nothing was changed: \(change) was prepared for another outbox. Prepare it with a repository that writes \
                        through the outbox of this unit of work.
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
            case .busy, .conflict, .outcomeUnknown, .unavailable: .unavailable
            }
        self.init(reason, explanation: error.explanation)
    }
}

/// A prepared change of a repository: writes for the upstream, and immediate changes of the store.
///
/// ```swift
/// func prepare(in comments: Repository<Comment>) async throws -> PreparedRecordChange? {
///     try await comments.prepareDeletion(of: 7, "the deletion of a comment")
/// }
/// ```
///
/// Methods such as ``Repository/prepareDeletion(of:_:)`` create it, and a ``RecordUnitOfWork`` over the same outbox commits it.
public struct PreparedRecordChange: PreparedChange {
    /// The change as a noun phrase for messages.
    public let description: String
    let outbox: any RepositoryOutbox
    let writes: [OutboxWrite]
    let changes: [RecordChange]
    let whenCommitted: @Sendable ([OutboxEntry]) -> Void

    /// Creates a prepared change.
    ///
    /// - Parameters:
    ///   - description: The change as a noun phrase for messages, such as `the publication of a post`. It must not contain
    ///     credentials.
    ///   - outbox: The outbox that delivers the writes, and whose store the changes are for.
    ///   - writes: The writes to deliver.
    ///   - changes: The changes to make in the store with the commit.
    ///   - whenCommitted: Called with the entries of the writes once they are durable, for example to update a memory cache. It
    ///     is called once for each commit, after ``OutboxHandler/accepted(_:)``, and must return quickly.
    public init(
        _ description: String,
        for outbox: any RepositoryOutbox,
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
