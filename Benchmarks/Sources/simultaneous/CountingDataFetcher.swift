import InwardFetching
import Synchronization

/// A data fetcher that counts its requests.
final class CountingDataFetcher: DataFetcher {
    private let base: any DataFetcher
    private let requests = Atomic(0)

    init(_ base: any DataFetcher) {
        self.base = base
    }

    /// Returns the number of requests since the last call.
    func takeCount() -> Int { requests.exchange(0, ordering: .relaxed) }

    var honorsDeadlines: Bool { base.honorsDeadlines }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        requests.add(1, ordering: .relaxed)
        return try await base.fetch(request)
    }
}
