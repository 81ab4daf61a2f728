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

extension RepositoryError {
    /// The kinds of failure that a caller can tell apart. More may be added without breaking anybody.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        /// The kinds as a closed enumeration, for a `switch` that handles each of them.
        public enum Code: String, Hashable, Sendable, CaseIterable {
            case cancelled
            case closed
            case notFound
            case unavailable
            case denied
            case refused
            case unreadable
            case outcomeUnknown
        }

        /// The kind, to switch over.
        public let code: Code

        /// The caller gave up before there was an answer.
        public static let cancelled = Self(code: .cancelled)
        /// What the repository belonged to has ended, such as a session that was signed out, and nothing was asked.
        public static let closed = Self(code: .closed)
        /// The source answered that it has nothing of this identity or name.
        public static let notFound = Self(code: .notFound)
        /// The source could not be reached, did not answer in time, or answered that it cannot serve now.
        public static let unavailable = Self(code: .unavailable)
        /// The source wants credentials, or others.
        public static let denied = Self(code: .denied)
        /// The source understood and will not do it: asking again unchanged is of no use.
        public static let refused = Self(code: .refused)
        /// The source's answer is not what was asked for, or is damaged.
        public static let unreadable = Self(code: .unreadable)
        /// A write was sent and no answer tells whether it was done.
        public static let outcomeUnknown = Self(code: .outcomeUnknown)

        /// The kind's name.
        public var description: String { code.rawValue }
    }
}
