import InwardFetching

/// A fetcher that says of itself what it is told to about deadlines.
struct HonestDataFetcher: DataFetcher {
    let base: any DataFetcher
    let honorsDeadlines: Bool

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse { try await base.fetch(request) }
}
