public import InwardFetching

/// A data fetcher that answers as it is told to, at once.
public struct StubDataFetcher: DataFetcher {
    private let answer: @Sendable (DataRequest) async throws(FetchError) -> DataResponse

    /// Makes a fetcher that answers each request by a function.
    public init(_ answer: @escaping @Sendable (DataRequest) async throws(FetchError) -> DataResponse) {
        self.answer = answer
    }

    /// Makes a fetcher that gives every request the same answer.
    public init(_ response: DataResponse) {
        self.init { _ throws(FetchError) in response }
    }

    /// Makes a fetcher that fails every request for the same reason.
    public init(failing reason: FetchError.Reason, explanation: String = "was told to fail") {
        self.init { request throws(FetchError) in
            throw FetchError(reason, request: request, explanation: explanation)
        }
    }

    /// The answer that the fetcher was told to give.
    ///
    /// - Throws: the `FetchError` that it was told to throw.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        try await answer(request)
    }
}
