public import InwardCore

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
    ///     ``OutboxSettler/accepted(_:)``, and returns soon.
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
