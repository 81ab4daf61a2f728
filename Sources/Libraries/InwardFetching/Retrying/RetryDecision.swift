/// Whether a request is tried again.
enum RetryDecision: Hashable, Sendable {
    /// It is, after a while.
    case retry(after: Duration)
    /// It is not.
    case end(RetryEnding)
}
