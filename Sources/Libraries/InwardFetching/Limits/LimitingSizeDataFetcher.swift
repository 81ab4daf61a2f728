/// A data fetcher that takes no answer whose body is larger than a limit.
public struct LimitingSizeDataFetcher: DecoratingDataFetcher {
    /// What is wrapped.
    public var base: any DataFetcher
    private let limit: Int

    init(_ base: any DataFetcher, limit: Int) {
        self.base = base
        self.limit = max(0, limit)
    }

    /// How large an answer may be.
    public var layer: DataFetcherLayer { DataFetcherLayer(.sizeLimit, "takes no more than \(limit) bytes") }

    /// The wrapped fetcher's answer, if its body is not too large, whatever its status.
    ///
    /// - Throws: a ``FetchError`` with ``FetchError/Reason/tooLarge`` if it is; otherwise what the wrapped fetcher throws.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        let response = try await base.fetch(request)
        guard response.body.count <= limit else {
            throw FetchError(
                .tooLarge,
                request: request,
                explanation: "was answered with more than \(limit) bytes, the most allowed"
            )
        }
        return response
    }
}

extension DataFetcher {
    /// This fetcher with a limit for the body of each answer.
    ///
    /// The body has been received by then: what protects the memory is the limit of the fetcher that receives it. This one
    /// is for who wants less than that, such as one repository of many.
    ///
    /// - Parameter bytes: The most bytes that a body may have; a number below 0 counts as 0.
    /// - Returns: the fetcher to hand requests to.
    public func limitingSize(to bytes: Int) -> LimitingSizeDataFetcher {
        LimitingSizeDataFetcher(self, limit: bytes)
    }
}
