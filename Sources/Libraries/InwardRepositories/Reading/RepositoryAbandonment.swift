/// What becomes of a fetch that nobody waits for any more.
public enum RepositoryAbandonment: Hashable, Sendable {
    /// It is cancelled.
    case cancelled
    /// It is finished, for what is kept.
    case finished
}
