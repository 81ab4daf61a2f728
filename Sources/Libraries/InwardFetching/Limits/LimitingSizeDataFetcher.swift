/// A data fetcher that rejects responses whose body exceeds a limit.
///
/// ```swift
/// do {
///     print(try await client.limitingSize(to: 1_000_000).fetch(request).body.count)
/// } catch where error.reason == .tooLarge {
///     print("\(error).")
/// }
/// ```
public struct LimitingSizeDataFetcher: DecoratingDataFetcher {
    /// The wrapped fetcher.
    public var base: any DataFetcher
    private let limit: Int

    init(_ base: any DataFetcher, limit: Int) {
        self.base = base
        self.limit = max(0, limit)
    }

    /// The description of this layer, with the limit.
    public var layer: DataFetcherLayer { DataFetcherLayer(.sizeLimit, "limits bodies to \(limit) bytes") }

    /// Returns the wrapped fetcher's response, whatever its status, if its body is within the limit.
    ///
    /// - Throws: A ``FetchError`` with ``FetchError/Reason/tooLarge`` if the body is too large; otherwise, errors of the
    ///   wrapped fetcher.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        let response = try await base.fetch(request)
        guard response.body.count <= limit else {
            throw FetchError(
                .tooLarge,
                request: request,
                explanation: "was answered with more than \(limit) bytes, which is the limit"
            )
        }
        return response
    }
}

extension DataFetcher {
    /// Returns this fetcher with a limit for the body of each response.
    ///
    /// The limit applies after the body was received, so it does not protect memory: the limit of the HTTP client does that.
    /// Use this one for stricter limits, such as that of one repository among many.
    ///
    /// ```swift
    /// let thumbnails = client.limitingSize(to: 1_000_000)
    /// ```
    ///
    /// - Parameter bytes: The maximum number of bytes in a body; negative values count as 0.
    /// - Returns: The limited fetcher.
    public func limitingSize(to bytes: Int) -> LimitingSizeDataFetcher {
        LimitingSizeDataFetcher(self, limit: bytes)
    }
}
