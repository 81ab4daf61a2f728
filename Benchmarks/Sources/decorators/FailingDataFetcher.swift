import InwardFetching

/// A data fetcher that fails every request as unreachable.
struct FailingDataFetcher: DataFetcher {
    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        throw FetchError(.unreachable, request: request, explanation: "could not be sent")
    }
}
