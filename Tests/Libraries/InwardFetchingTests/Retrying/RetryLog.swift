import InwardFetching
import Synchronization

/// An observer that records scheduled retries.
final class RetryLog: FetchObserver {
    struct Entry: Equatable {
        let attempt: Int
        let delay: Duration
        let outcome: Result<DataResponse, FetchError>
    }

    private let recorded = Mutex<[Entry]>([])

    var entries: [Entry] { recorded.withLock(\.self) }

    func retryScheduled(
        _ request: DataRequest,
        after delay: Duration,
        because outcome: Result<DataResponse, FetchError>
    ) {
        recorded.withLock { $0.append(Entry(attempt: request.attempt, delay: delay, outcome: outcome)) }
    }
}
