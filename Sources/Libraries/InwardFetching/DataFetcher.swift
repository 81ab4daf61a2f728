#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A port that sends a request and returns its response.
///
/// ```swift
/// let response = try await client.fetch(request)
/// guard response.status.isSuccess else { throw FetchError(response, to: request) }
/// ```
///
/// Implementations follow these rules:
///
/// - Return every complete response, whatever its status, and throw if there is no complete response. Never return a partial
///   body.
/// - Send the header fields as they are.
/// - When the calling task is cancelled, end every wait with ``FetchError/Reason/cancelled``.
/// - Expect concurrent calls from many tasks.
///
/// Test an implementation with `DataFetcherConformance` of the product `InwardTesting`.
public protocol DataFetcher: Sendable {
    /// Returns the response to a request.
    ///
    /// - Throws: A ``FetchError`` if there is no complete response.
    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse

    /// Whether the fetcher itself ends each fetch with ``FetchError/Reason/timedOut`` when the task's deadline passes. The
    /// default is `false`.
    ///
    /// `false` is always correct. If it is `true`, a timeout around this fetcher needs no task and no timer of its own, and
    /// relies on the fetcher to end in time.
    var honorsDeadlines: Bool { get }
}

extension DataFetcher {
    /// `false`, the default.
    public var honorsDeadlines: Bool { false }
}

extension DataFetcher {
    /// Returns the body of a successful response to a `GET` request.
    ///
    /// ```swift
    /// let order = try JSONDecoder().decode(Order.self, from: try await client.fetchData(from: url))
    /// ```
    ///
    /// - Throws: A ``FetchError``. Its reason is ``FetchError/Reason/unsuccessful`` if the status is not a success.
    public func fetchData(from url: URL) async throws(FetchError) -> Data {
        let request = DataRequest(url: url)
        let response = try await fetch(request)
        guard response.status.isSuccess else { throw FetchError(response, to: request) }
        return response.body
    }
}

/// A data fetcher that wraps another and adds one behavior.
///
/// Conform your own decorators to this protocol so that pipelines list them, check their order, and pass observers through to
/// the wrapped fetcher.
///
/// ```swift
/// struct LoggingDataFetcher: DecoratingDataFetcher {
///     var base: any DataFetcher
///     var layer: DataFetcherLayer { DataFetcherLayer(.other, "logs requests") }
///
///     func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
///         print(request)
///         return try await base.fetch(request)
///     }
/// }
/// ```
public protocol DecoratingDataFetcher: DataFetcher {
    /// The wrapped fetcher.
    var base: any DataFetcher { get set }
    /// The description of this layer in a pipeline.
    var layer: DataFetcherLayer { get }
}

extension DecoratingDataFetcher {
    /// Whether the wrapped fetcher honors deadlines. Return `false` from a decorator whose own waits ignore the deadline.
    public var honorsDeadlines: Bool { base.honorsDeadlines }
}

/// The description of one layer of a pipeline.
///
/// ```swift
/// let payments = client.timingOut(after: .seconds(10))
/// assert(!payments.pipeline.layers.contains { $0.kind == .retry })
/// ```
public struct DataFetcherLayer: Hashable, Sendable, CustomStringConvertible {
    /// The kind of a layer. A pipeline checks the order of its layers by their kinds. Future versions may add more.
    public struct Kind: Hashable, Sendable {
        private let name: String

        private init(_ name: String) {
            self.name = name
        }

        /// Refuses addresses.
        public static let addressGuard = Self("address guard")
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
        /// Answers when the wrapped fetcher fails.
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
        /// Any other behavior.
        public static let other = Self("other")
    }

    /// The kind. A pipeline checks the order of its layers by it.
    public let kind: Kind
    /// The behavior, such as `times out after 2.0 seconds`.
    public let description: String

    /// Creates the description of a layer.
    ///
    /// - Parameters:
    ///   - kind: The kind. A pipeline checks the order of its layers by it.
    ///   - description: The behavior in a few words that begin with a verb: `times out after 2.0 seconds`. It must not
    ///     contain credentials.
    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
