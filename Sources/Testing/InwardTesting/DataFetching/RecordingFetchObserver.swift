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

extension RecordingFetchObserver {
    /// Something that an observer is told.
    public enum Event: Hashable, Sendable {
        /// A request that came to the pipeline has ended.
        case requestEnded(DataRequest, Result<DataResponse, FetchError>, after: Duration)
        /// The observer surrounds an attempt, and hands it on now.
        case attemptBegan(DataRequest)
        /// The attempt that the observer surrounds is back.
        case attemptReturned(DataRequest, Result<DataResponse, FetchError>)
        /// An attempt has ended.
        case attemptEnded(DataRequest, Result<DataResponse, FetchError>, after: Duration)
        /// A request was answered from a cache.
        case answeredFromCache(DataRequest)
        /// A request waits for the answer to an equal one.
        case joined(DataRequest)
        /// A request is tried again after a while.
        case retryScheduled(DataRequest, after: Duration, because: Result<DataResponse, FetchError>)
        /// A second attempt was begun.
        case hedged(DataRequest)
        /// A request was refused, and not sent.
        case rejected(DataRequest, because: FetchError)
        /// A request was answered in place of who failed.
        case fellBack(DataRequest, because: FetchError)
        /// Credentials were asked for anew.
        case credentialsRefreshed(DataRequest)
        /// A circuit has changed its state.
        case circuitChanged(String, from: String, to: String)
    }
}

extension RecordingFetchObserver.Event: CustomStringConvertible {
    /// What happened, such as `GET http://upstream.test/ ended with 200 OK after 2.0 seconds`.
    public var description: String {
        switch self {
        case .requestEnded(let request, let outcome, let duration):
            "\(request) ended with \(Self.words(outcome)) after \(duration)"
        case .attemptBegan(let request): "\(Self.attempt(request)) began"
        case .attemptReturned(let request, let outcome): "\(Self.attempt(request)) returned \(Self.words(outcome))"
        case .attemptEnded(let request, let outcome, let duration):
            "\(Self.attempt(request)) ended with \(Self.words(outcome)) after \(duration)"
        case .answeredFromCache(let request): "\(request) was answered from a cache"
        case .joined(let request): "\(request) joined an equal one"
        case .retryScheduled(let request, let delay, let outcome):
            "\(Self.attempt(request)) was scheduled after \(delay) because of \(Self.words(outcome))"
        case .hedged(let request): "\(request) was hedged"
        case .rejected(let request, let error): "\(request) was rejected: it \(error.explanation)"
        case .fellBack(let request, let error): "\(request) fell back because of \(error.reason)"
        case .credentialsRefreshed(let request): "Credentials were refreshed for \(request)"
        case .circuitChanged(let circuit, let old, let new): "The circuit \(circuit) went from \(old) to \(new)"
        }
    }

    private static func attempt(_ request: DataRequest) -> String { "Attempt \(request.attempt) of \(request)" }

    private static func words(_ outcome: Result<DataResponse, FetchError>) -> String {
        switch outcome {
        case .success(let response): "\(response.status)"
        case .failure(let error): "\(error.reason)"
        }
    }
}
