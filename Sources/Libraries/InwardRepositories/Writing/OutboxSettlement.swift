/// What a settler makes of the end of a write.
public struct OutboxSettlement: Sendable {
    /// What is changed in the store, together with the end of the write.
    public let changes: [RecordChange]
    /// Why the answer cannot be used, as the end of a sentence: `names no identity`; `nil` if it can. It is told to the error
    /// handler.
    public let problem: String?
    /// What is done as soon as the changes are durable, such as to put the value into the memory that readers ask first. It is
    /// called once, unless the process ends before, and returns soon.
    public let whenCommitted: @Sendable () -> Void

    /// Makes a settlement.
    ///
    /// - Parameters:
    ///   - changes: What is changed in the store.
    ///   - problem: Why the answer cannot be used, as the end of a sentence; `nil` if it can.
    ///   - whenCommitted: What is done as soon as the changes are durable.
    public init(
        _ changes: [RecordChange] = [],
        problem: String? = nil,
        whenCommitted: @escaping @Sendable () -> Void = {}
    ) {
        self.changes = changes
        self.problem = problem
        self.whenCommitted = whenCommitted
    }
}
