import InwardFetching

extension DataFetcher {
    /// The error that a request fails with; `nil` if it is answered.
    func failure(_ request: DataRequest) async -> FetchError? {
        do throws(FetchError) {
            _ = try await fetch(request)
            return nil
        } catch {
            return error
        }
    }
}
