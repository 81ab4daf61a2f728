import InwardFetching

/// An upstream as seen by a process that can end at any step.
struct MortalDataFetcher: DataFetcher {
    let base: any DataFetcher
    let process: MortalProcess

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard process.survives() else {
            throw FetchError(.unreachable, request: request, explanation: "came from a process that has ended")
        }
        let response = try await base.fetch(request)
        guard process.survives() else {
            throw FetchError(.interrupted, request: request, explanation: "came from a process that has ended")
        }
        return response
    }
}
