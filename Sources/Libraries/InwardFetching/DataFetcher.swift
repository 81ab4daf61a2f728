#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A port through which repositories send requests and receive responses.
///
/// A fetcher returns every complete response, whatever its status, and throws only if there is none. It never returns a
/// partial body as a complete one. It sends the header fields as they are. When the calling task is cancelled, every wait
/// ends with ``FetchError/Reason/cancelled``. Fetchers are used from many tasks concurrently.
///
/// Test an implementation with `DataFetcherConformance` of the product `InwardTesting`.
///
///     let response = try await fetcher.fetch(DataRequest(url: url))
///     guard response.status.isSuccess else { return }
public protocol DataFetcher: Sendable {
    /// Returns the response to a request.
    ///
    /// - Throws: A ``FetchError`` if there is no complete response.
    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse

    /// Whether the fetcher observes the task's deadline itself and ends each fetch with ``FetchError/Reason/timedOut`` when
    /// it passes. The default is `false`.
    ///
    /// Returning `true` saves a timeout a task and a timer. `false` is always correct.
    var honorsDeadlines: Bool { get }
}

extension DataFetcher {
    /// `false`, the default.
    public var honorsDeadlines: Bool { false }
}

extension DataFetcher {
    /// Returns the data at a URL.
    ///
    /// - Throws: A ``FetchError``, with ``FetchError/Reason/unsuccessful`` if the response has an unsuccessful status.
    public func fetchData(from url: URL) async throws(FetchError) -> Data {
        let request = DataRequest(url: url)
        let response = try await fetch(request)
        guard response.status.isSuccess else { throw FetchError(response, to: request) }
        return response.body
    }
}

/// A data fetcher that wraps another and adds one behaviour.
///
/// Conform your own decorators to this protocol so that pipelines list them, check their order, and pass observers through to
/// the wrapped fetcher.
public protocol DecoratingDataFetcher: DataFetcher {
    /// The wrapped fetcher.
    var base: any DataFetcher { get set }
    /// The description of this layer in a pipeline.
    var layer: DataFetcherLayer { get }
}

extension DecoratingDataFetcher {
    /// Whether the wrapped fetcher observes deadlines. A decorator whose own waits ignore the deadline returns `false`.
    public var honorsDeadlines: Bool { base.honorsDeadlines }
}

/// The description of one layer of a pipeline.
public struct DataFetcherLayer: Hashable, Sendable, CustomStringConvertible {
    /// The behaviours by which a pipeline checks the order of its layers. Future versions may add more.
    public struct Kind: Hashable, Sendable {
        private let name: String

        private init(_ name: String) {
            self.name = name
        }

        /// Adds credentials.
        public static let authorization = Self("authorization")
        /// Answers from a cache.
        public static let cache = Self("cache")
        /// Stops sending requests to a failing upstream.
        public static let circuitBreaker = Self("circuit breaker")
        /// Coalesces concurrent equal requests.
        public static let coalescing = Self("coalescing")
        /// Limits the number of concurrent requests.
        public static let concurrencyLimit = Self("concurrency limit")
        /// Sends the remaining time to the upstream.
        public static let deadlineNotice = Self("deadline notice")
        /// Answers in place of a failed fetcher.
        public static let fallback = Self("fallback")
        /// Sends a second attempt when the first is slow.
        public static let hedging = Self("hedging")
        /// Reports events to an observer.
        public static let observation = Self("observation")
        /// Limits the rate of requests.
        public static let rateLimit = Self("rate limit")
        /// Retries failed requests.
        public static let retry = Self("retry")
        /// Limits the size of responses.
        public static let sizeLimit = Self("size limit")
        /// Limits the duration of requests.
        public static let timeout = Self("timeout")
        /// Any other behaviour.
        public static let other = Self("other")
    }

    /// The kind by which a pipeline checks the order of its layers.
    public let kind: Kind
    /// The behaviour, such as `times out after 2.0 seconds`.
    public let description: String

    /// Creates the description of a layer.
    ///
    /// - Parameters:
    ///   - kind: The kind by which a pipeline checks the order of its layers.
    ///   - description: The behaviour in a few words that begin with a verb: `times out after 2.0 seconds`. It must not
    ///     contain credentials.
    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
