import InwardFetching

/// A fetcher that does not report that it honors deadlines, so decorators must cancel it.
struct HeedlessDataFetcher: DataFetcher {
    let base: any DataFetcher

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse { try await base.fetch(request) }
}
