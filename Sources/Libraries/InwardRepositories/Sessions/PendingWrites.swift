/// What a session does with the writes that an earlier process left in the app's store.
///
/// In either case the session's own writes are accepted and delivered. A session owns its user's outbox from its first write on, or
/// from the moment that it delivers, and shares it with the user's other sessions in the same app.
public enum PendingWrites: Hashable, Sendable {
    /// Delivers them from sign-in on, unless another process owns the outbox: then that one does.
    case deliver
    /// Shows them to readers as they were when the feed was read last, and owns nothing: for a session that only reads.
    case show
}
