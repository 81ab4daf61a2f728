package import InwardFetching

extension DataFetcher {
    /// Returns the error with which a request fails, or `nil` if it succeeds.
    package func failure(_ request: DataRequest) async -> FetchError? {
        do throws(FetchError) {
            _ = try await fetch(request)
            return nil
        } catch {
            return error
        }
    }

    /// Returns the reason for which a request fails, or `nil` if it succeeds.
    package func reason(_ request: DataRequest) async -> FetchError.Reason? { await failure(request)?.reason }
}
