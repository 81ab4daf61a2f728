/// Why a repository could not do what it was asked, in terms that hold for any source.
public struct RepositoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure this is.
    public let reason: Reason
    /// What was asked, as whoever was asked would write it, such as `GET http://127.0.0.1:8787/users`. Free of
    /// credentials.
    public let request: String
    /// What happened then, as the end of a sentence that begins with the request: `was answered with 503`.
    public let explanation: String
    /// Whether asking again, with nothing changed, can help.
    public let canRetry: Bool
    /// How long the source asked to be left alone, if it said.
    public let retryAfter: Duration?

    /// Makes an error that says what was asked, what happened, and whether asking again can help.
    public init(
        _ reason: Reason,
        request: String,
        explanation: String,
        canRetry: Bool = false,
        retryAfter: Duration? = nil
    ) {
        self.reason = reason
        self.request = request
        self.explanation = explanation
        self.canRetry = canRetry
        self.retryAfter = retryAfter
    }

    /// The request and what happened, as one sentence without its full stop.
    public var description: String { "\(request) \(explanation)" }
}
