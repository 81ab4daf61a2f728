/// What a ``ChaosDataFetcher`` does to a request instead of answering it as it should.
public enum ChaosFault: String, CaseIterable, Hashable, Sendable {
    /// It fails as unreachable, and is not sent.
    case unreachable
    /// It is sent, and its answer is lost on the way back: it fails as interrupted.
    case interrupted
    /// It is sent, and its answer is lost: it fails as timed out, without a wait for it.
    case timedOut
    /// It is answered with 500 Internal Server Error, and not sent.
    case failed
    /// It is answered with 503 Service Unavailable and when to ask again, and not sent.
    case unavailable
    /// It is answered with 429 Too Many Requests and when to ask again, and not sent.
    case tooManyRequests
    /// It is not sent, and never answered: it ends when the task is cancelled or its deadline passes.
    case unanswered
    /// It is sent, and the answer's body ends early, as one that was already cut short at its source.
    case truncated
    /// It is sent, and some bytes of the answer's body are others.
    case garbled
}
