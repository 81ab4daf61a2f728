/// How a session handles the writes that an earlier process left in the app's store.
///
/// ```swift
/// func openReadOnly(_ repositories: RepositorySet) async throws {
///     try await repositories.open(pendingWrites: .show)
/// }
/// ```
///
/// In both cases, the session's own writes are accepted and delivered. A session takes ownership of its user's outbox with its
/// first write, or when it begins to deliver, and shares the outbox with the user's other sessions in the same app.
public enum PendingWrites: Hashable, Sendable {
    /// Delivers the writes from sign-in on, unless another process owns the outbox and delivers them.
    case deliver
    /// Shows the writes to readers as they were at sign-in, or at the last call of ``Outbox/showPending()``, without owning the
    /// outbox. Use it for a session that only reads.
    case show
}
