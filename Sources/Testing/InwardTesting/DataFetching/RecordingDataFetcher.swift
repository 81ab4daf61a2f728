public import InwardFetching
import Synchronization

/// A data fetcher that remembers what it was asked, and has another answer.
public final class RecordingDataFetcher: DataFetcher {
    private let recorded = Mutex<[DataRequest]>([])
    private let base: any DataFetcher

    /// Makes a fetcher that has another answer.
    public init(_ base: any DataFetcher) {
        self.base = base
    }

    /// What was asked so far, in the order it was asked.
    public var requests: [DataRequest] { recorded.withLock(\.self) }

    /// Whether the other does.
    public var honorsDeadlines: Bool { base.honorsDeadlines }

    /// The other's answer.
    ///
    /// - Throws: what the other throws.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        recorded.withLock { $0.append(request) }
        return try await base.fetch(request)
    }
}
