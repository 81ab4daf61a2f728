import InwardFetching

/// A fetcher with a prescribed `honorsDeadlines`.
struct HonestDataFetcher: DataFetcher {
    let base: any DataFetcher
    let honorsDeadlines: Bool

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse { try await base.fetch(request) }
}
