import InwardFetching
import TestSupport

/// A data fetcher whose responses wait for a gate.
final class GatedDataFetcher: DataFetcher {
    let gate = Gate()
    private let base: any DataFetcher
    private let beginning = Gate()

    init(_ base: any DataFetcher) {
        self.base = base
    }

    /// Waits until the first request.
    func hasBegun() async { _ = await beginning.pass() }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        beginning.open()
        guard await gate.pass() else { throw FetchError(.cancelled, request: request, explanation: "was cancelled") }
        return try await base.fetch(request)
    }
}
