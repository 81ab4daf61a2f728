package import InwardFetching

extension DataFetcher {
    /// The error that a request fails with; `nil` if it is answered.
    package func failure(_ request: DataRequest) async -> FetchError? {
        do throws(FetchError) {
            _ = try await fetch(request)
            return nil
        } catch {
            return error
        }
    }

    /// Why a request is not answered; `nil` if it is.
    package func reason(_ request: DataRequest) async -> FetchError.Reason? { await failure(request)?.reason }
}
