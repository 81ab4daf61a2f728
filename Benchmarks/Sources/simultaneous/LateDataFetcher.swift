import InwardFetching

/// A data fetcher that answers from memory after a delay.
struct LateDataFetcher: DataFetcher {
    let response: DataResponse
    let latency: Duration

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        do {
            try await Task.sleep(for: latency, tolerance: .zero)
        } catch {
            throw FetchError(.cancelled, request: request, explanation: "was cancelled")
        }
        return response
    }
}
