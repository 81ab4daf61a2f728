import InwardFetching

/// A fetcher that knows of no deadline, so that whoever bounds it has to cancel it.
struct UnawareDataFetcher: DataFetcher {
    let base: any DataFetcher

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse { try await base.fetch(request) }
}
