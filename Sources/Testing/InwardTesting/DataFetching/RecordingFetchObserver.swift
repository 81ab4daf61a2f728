public import InwardFetching
import Synchronization

/// An observer that remembers everything it is told.
public final class RecordingFetchObserver: FetchObserver {
    /// What may be shared by observers, so that the order among them shows.
    private final class Log: Sendable {
        let entries = Mutex<[(name: String?, event: Event)]>([])
    }

    private let log: Log
    private let name: String?

    /// Makes an observer.
    public init() {
        log = Log()
        name = nil
    }

    /// Makes an observer that remembers what it is told behind what another one is told, and the other way around.
    ///
    /// - Parameters:
    ///   - name: What its events are told apart by.
    ///   - other: Who remembers the same.
    public init(named name: String, sharing other: RecordingFetchObserver) {
        log = other.log
        self.name = name
    }

    /// What it was told so far, and all who share its memory, in that order.
    public var events: [Event] { log.entries.withLock { $0.map(\.event) } }

    /// What it was told so far, and all who share its memory, in words: `GET http://upstream.test/ was hedged`, behind the name of
    /// who was told if it has one.
    public var descriptions: [String] {
        log.entries.withLock(\.self).map { name, event in name.map { "\($0): \(event)" } ?? "\(event)" }
    }

    private func record(_ event: Event) { log.entries.withLock { $0.append((name, event)) } }

    /// Remembers the end of a request.
    public func requestEnded(
        _ request: DataRequest,
        _ outcome: Result<DataResponse, FetchError>,
        after duration: Duration
    ) {
        record(.requestEnded(request, outcome, after: duration))
    }

    /// Remembers that an attempt goes and comes back.
    ///
    /// - Throws: what `fetch` throws.
    public func surroundAttempt(
        _ request: DataRequest,
        _ fetch: (DataRequest) async throws(FetchError) -> DataResponse
    ) async throws(FetchError) -> DataResponse {
        record(.attemptBegan(request))
        do {
            let response = try await fetch(request)
            record(.attemptReturned(request, .success(response)))
            return response
        } catch {
            record(.attemptReturned(request, .failure(error)))
            throw error
        }
    }

    /// Remembers the end of an attempt.
    public func attemptEnded(
        _ request: DataRequest,
        _ outcome: Result<DataResponse, FetchError>,
        after duration: Duration
    ) {
        record(.attemptEnded(request, outcome, after: duration))
    }

    /// Remembers an answer from a cache.
    public func answeredFromCache(_ request: DataRequest) { record(.answeredFromCache(request)) }

    /// Remembers a wait for the answer to an equal request.
    public func joined(_ request: DataRequest) { record(.joined(request)) }

    /// Remembers a retry to come.
    public func retryScheduled(
        _ request: DataRequest,
        after delay: Duration,
        because outcome: Result<DataResponse, FetchError>
    ) {
        record(.retryScheduled(request, after: delay, because: outcome))
    }

    /// Remembers a second attempt.
    public func hedged(_ request: DataRequest) { record(.hedged(request)) }

    /// Remembers a refusal.
    public func rejected(_ request: DataRequest, because error: FetchError) {
        record(.rejected(request, because: error))
    }

    /// Remembers an answer in place of a failure.
    public func fellBack(_ request: DataRequest, because error: FetchError) {
        record(.fellBack(request, because: error))
    }

    /// Remembers that credentials were asked for anew.
    public func credentialsRefreshed(for request: DataRequest) { record(.credentialsRefreshed(request)) }

    /// Remembers the change of a circuit.
    public func circuitChanged(_ circuit: String, from old: String, to new: String) {
        record(.circuitChanged(circuit, from: old, to: new))
    }
}
