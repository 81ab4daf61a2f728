import InwardFetching

/// A data fetcher that has its answer in memory, and never waits.
struct BareDataFetcher: DataFetcher {
    let response: DataResponse
    /// Whether it says that it heeds deadlines, which is true of whoever never waits.
    let honorsDeadlines: Bool

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse { response }
}
