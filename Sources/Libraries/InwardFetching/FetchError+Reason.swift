extension FetchError {
    /// The kinds of failure that a caller can tell apart. More may be added without breaking anybody.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        /// The kinds as a closed enumeration, for a `switch` that handles each of them.
        public enum Code: String, Hashable, Sendable, CaseIterable {
            case cancelled
            case closed
            case invalidRequest
            case rejected
            case unreachable
            case untrusted
            case timedOut
            case interrupted
            case tooLarge
            case tooManyRedirects
            case unsuccessful
            case unreadable
        }

        /// The kind, to switch over.
        public let code: Code

        /// The task that asked was cancelled.
        public static let cancelled = Self(code: .cancelled)
        /// What the fetcher belonged to has ended, and nothing was sent.
        public static let closed = Self(code: .closed)
        /// The request is not one that this fetcher can answer: another scheme, a path that leads outside.
        public static let invalidRequest = Self(code: .invalidRequest)
        /// A limit on the way to the source was reached, or its circuit is open, and nothing was sent.
        public static let rejected = Self(code: .rejected)
        /// Nobody was reached: no such host, nobody listens there, no way leads there.
        public static let unreachable = Self(code: .unreachable)
        /// Somebody was reached who could not prove to be the one that was meant.
        public static let untrusted = Self(code: .untrusted)
        /// The answer, or its next part, did not come in time.
        public static let timedOut = Self(code: .timedOut)
        /// The connection ended before the answer did.
        public static let interrupted = Self(code: .interrupted)
        /// The answer is larger than the caller allows.
        public static let tooLarge = Self(code: .tooLarge)
        /// One redirect led to another more often than the caller allows.
        public static let tooManyRedirects = Self(code: .tooManyRedirects)
        /// A whole answer came, and its status is not one of success.
        public static let unsuccessful = Self(code: .unsuccessful)
        /// What there is cannot be read: no permission, a broken disk, a damaged source.
        public static let unreadable = Self(code: .unreadable)

        /// The kind's name.
        public var description: String { code.rawValue }
    }
}
