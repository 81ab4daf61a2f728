import InwardFetching

/// A fetcher that ignores deadlines, so that a timeout must cancel it.
struct UnawareDataFetcher: DataFetcher {
    let base: any DataFetcher

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse { try await base.fetch(request) }
}
