/// What one decorator adds to a data fetcher.
public struct DataFetcherLayer: Hashable, Sendable, CustomStringConvertible {
    /// The behaviours that the order of a pipeline is judged by. More may be added without breaking anybody.
    public struct Kind: Hashable, Sendable {
        private let name: String

        private init(_ name: String) {
            self.name = name
        }

        /// Sends credentials along.
        public static let authorization = Self("authorization")
        /// Answers from memory.
        public static let cache = Self("cache")
        /// Stops asking who fails.
        public static let circuitBreaker = Self("circuit breaker")
        /// Asks once for all who ask the same.
        public static let coalescing = Self("coalescing")
        /// Bounds how many requests are under way.
        public static let concurrencyLimit = Self("concurrency limit")
        /// Tells the upstream how much time there is.
        public static let deadlineNotice = Self("deadline notice")
        /// Answers in place of who fails.
        public static let fallback = Self("fallback")
        /// Asks a second time what takes long.
        public static let hedging = Self("hedging")
        /// Tells what happens.
        public static let observation = Self("observation")
        /// Bounds how many requests are sent in a time.
        public static let rateLimit = Self("rate limit")
        /// Asks again.
        public static let retry = Self("retry")
        /// Bounds how many bytes an answer has.
        public static let sizeLimit = Self("size limit")
        /// Bounds how long an answer takes.
        public static let timeout = Self("timeout")
        /// Anything else.
        public static let other = Self("other")
    }

    /// What the order is judged by.
    public let kind: Kind
    /// What it does, such as `times out after 2.0 seconds`.
    public let description: String

    /// Says what a decorator adds.
    ///
    /// - Parameters:
    ///   - kind: What the order of a pipeline is judged by.
    ///   - description: What it does, in a few words that begin with a verb: `times out after 2.0 seconds`. Free of
    ///     credentials.
    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
