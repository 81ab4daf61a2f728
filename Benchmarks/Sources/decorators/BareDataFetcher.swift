import InwardFetching

/// A data fetcher that answers from memory without waiting.
struct BareDataFetcher: DataFetcher {
    let response: DataResponse
    /// Whether the fetcher reports that it honors deadlines. It does in any case, because it never waits.
    let honorsDeadlines: Bool

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse { response }
}
