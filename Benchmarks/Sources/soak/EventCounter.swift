import InwardFetching
import Synchronization

/// An observer that counts events.
final class EventCounter: FetchObserver {
    /// The events that must occur in a meaningful run.
    static let expected = [
        "request ended", "attempt began", "attempt ended", "answered from cache", "joined", "retry scheduled", "hedged",
        "rejected by the circuit", "rejected by a limit", "fell back", "credentials refreshed",
        "circuit closed to open", "circuit open to half open",
        "circuit half open to open", "circuit half open to closed",
    ]

    private let events = Mutex<[String: Int]>([:])

    /// The number of occurrences of each event.
    var counts: [String: Int] { events.withLock(\.self) }

    func requestEnded(_ request: DataRequest, _ outcome: Result<DataResponse, FetchError>, after duration: Duration) {
        count("request ended")
    }

    func surroundAttempt(
        _ request: DataRequest,
        _ fetch: (DataRequest) async throws(FetchError) -> DataResponse
    ) async throws(FetchError) -> DataResponse {
        count("attempt began")
        return try await fetch(request)
    }

    func attemptEnded(_ request: DataRequest, _ outcome: Result<DataResponse, FetchError>, after duration: Duration) {
        count("attempt ended")
    }

    func answeredFromCache(_ request: DataRequest) { count("answered from cache") }
    func joined(_ request: DataRequest) { count("joined") }
    func retryScheduled(
        _ request: DataRequest,
        after delay: Duration,
        because outcome: Result<DataResponse, FetchError>
    ) { count("retry scheduled") }
    func hedged(_ request: DataRequest) { count("hedged") }
    func rejected(_ request: DataRequest, because error: FetchError) {
        count(error.explanation.contains("the circuit to") ? "rejected by the circuit" : "rejected by a limit")
    }
    func fellBack(_ request: DataRequest, because error: FetchError) { count("fell back") }
    func credentialsRefreshed(for request: DataRequest) { count("credentials refreshed") }
    func circuitChanged(_ circuit: String, from old: String, to new: String) { count("circuit \(old) to \(new)") }

    private func count(_ event: String) { events.withLock { $0[event, default: 0] += 1 } }
}
