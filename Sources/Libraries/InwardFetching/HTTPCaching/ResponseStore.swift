#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A store of responses beneath a ``ResponseCache``, which outlives the process and may hold more than the memory does.
///
/// ```swift
/// func makeCatalog(over store: any ResponseStore, of client: some DataFetcher, in cache: ResponseCache) -> any DataFetcher {
///     client.caching(in: cache.makePartition(.shared, over: store))
/// }
/// ```
///
/// `RecordResponseStore` of `InwardRepositories` keeps responses in any `RecordStore`: in files, SQLite or PostgreSQL.
///
/// A store holds the responses of one partition. It returns a response as it was kept, or not at all: one that is damaged or
/// incomplete is missing. It may drop any response at any time, and drops all of them sooner or later after their expiry. It should
/// store equal bodies once.
///
/// Calls may run concurrently, and must end: the cache waits for a search before it asks the upstream, and for a removal before it
/// answers. They end early if the task is cancelled or its deadline passes.
///
/// `ResponseStoreConformance` in `InwardTesting` verifies what can be seen of these requirements. Test yourself what becomes of
/// responses that are damaged or have expired, and what is left when a commit is interrupted.
public protocol ResponseStore: Sendable {
    /// Returns the responses under a URL, in the order in which they were given.
    ///
    /// - Throws: A ``ResponseStoreError`` if the store cannot tell.
    func responses(for url: String) async throws(ResponseStoreError) -> [KeptResponse]

    /// Returns a page of URLs in any fixed order, with the metadata of their responses.
    ///
    /// - Parameters:
    ///   - url: The last URL of the page before; `nil` for the first page. It may have been removed since.
    ///   - limit: The highest number of URLs, which is positive.
    /// - Returns: The page. If it is empty, the page before was the last one.
    /// - Throws: A ``ResponseStoreError`` if the store cannot tell.
    func metadata(
        after url: String?,
        limit: Int
    ) async throws(ResponseStoreError) -> [(url: String, metadata: [Data])]

    /// Makes changes in order, all of them or none. They are durable when this method returns.
    ///
    /// - Throws: A ``ResponseStoreError``. Then it is unknown whether the changes were made.
    func commit(_ changes: [ResponseStoreChange]) async throws(ResponseStoreError)
}

/// A response in a ``ResponseStore``.
public struct KeptResponse: Hashable, Sendable {
    /// What a cache knows of the response besides the body, in a form of its own.
    public let metadata: Data
    /// The body.
    public let body: Data
    /// The date from which the response is no longer useful.
    public let expiry: Date

    /// Creates a response for a store.
    public init(metadata: Data, body: Data, expiry: Date) {
        self.metadata = metadata
        self.body = body
        self.expiry = expiry
    }
}

/// A change of a ``ResponseStore``.
public enum ResponseStoreChange: Hashable, Sendable {
    /// Stores responses under a URL in place of all that are there. There is at least one.
    case keep([KeptResponse], under: String)
    /// Removes the responses under a URL, if there are any.
    case remove(under: String)
    /// Removes all responses.
    case removeAll
}

/// A failure of a ``ResponseStore``.
public struct ResponseStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What happened and what to do, as a sentence.
    public let explanation: String

    /// Creates an error.
    public init(explanation: String) {
        self.explanation = explanation
    }

    /// The explanation.
    public var description: String { explanation }
}
