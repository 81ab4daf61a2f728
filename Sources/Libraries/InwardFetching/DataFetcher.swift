#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The port through which the repositories get bytes: whoever implements it answers a request.
///
/// An answer is whatever the source answers, with whatever status: a fetcher throws only when there is no whole answer to
/// give. Part of a body is never given for the whole. The request is sent with its header fields as they are, and every
/// wait ends with ``FetchError/Reason/cancelled`` when the task that asked is cancelled. A fetcher is used from many tasks
/// at once.
///
/// Check an implementation with `DataFetcherConformance` of the product `InwardTesting`.
public protocol DataFetcher: Sendable {
    /// The answer to a request.
    ///
    /// - Throws: a ``FetchError`` if there is no whole answer.
    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse

    /// Whether the fetcher looks at the deadline of the task itself, and ends each fetch with
    /// ``FetchError/Reason/timedOut`` when it passes; `false` unless it says so.
    ///
    /// Who does spares whoever bounds it a task and a timer. `false` is always right.
    var honorsDeadlines: Bool { get }
}

extension DataFetcher {
    /// Nothing is promised.
    public var honorsDeadlines: Bool { false }
}

extension DataFetcher {
    /// The bytes at an address.
    ///
    /// - Throws: a ``FetchError``, with ``FetchError/Reason/unsuccessful`` if the answer's status is not one of success.
    public func fetchData(from url: URL) async throws(FetchError) -> Data {
        let request = DataRequest(url: url)
        let response = try await fetch(request)
        guard response.status.isSuccess else { throw FetchError(response, to: request) }
        return response.body
    }
}

/// A data fetcher that wraps another and adds one behaviour.
///
/// Conform a decorator of your own, and it shows in the pipeline, is looked at when orders are, and lets an observer through
/// to what it wraps.
public protocol DecoratingDataFetcher: DataFetcher {
    /// What is wrapped.
    var base: any DataFetcher { get set }
    /// What the decorator adds, as the pipeline shows it.
    var layer: DataFetcherLayer { get }
}

extension DecoratingDataFetcher {
    /// Whether what is wrapped does. A decorator that waits by itself, and not by the deadline, says `false`.
    public var honorsDeadlines: Bool { base.honorsDeadlines }
}

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
