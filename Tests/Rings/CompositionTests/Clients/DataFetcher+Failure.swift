import InwardFetching

extension DataFetcher {
    /// Returns the error of a request; `nil` if it is answered.
    func failure(_ request: DataRequest) async -> FetchError? {
        do throws(FetchError) {
            _ = try await fetch(request)
            return nil
        } catch {
            return error
        }
    }
}
