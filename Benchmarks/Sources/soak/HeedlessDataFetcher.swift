import InwardFetching

/// A fetcher that does not say that it ends with the deadline, so that whoever bounds it has to cancel it.
struct HeedlessDataFetcher: DataFetcher {
    let base: any DataFetcher

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse { try await base.fetch(request) }
}
