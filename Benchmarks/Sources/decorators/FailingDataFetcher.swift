import InwardFetching

/// A data fetcher that reaches nobody.
struct FailingDataFetcher: DataFetcher {
    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        throw FetchError(.unreachable, request: request, explanation: "reached nobody")
    }
}
