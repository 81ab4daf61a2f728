public import InwardFetching
import Synchronization

/// A fetch observer that records all events, as values and as text.
///
/// ```swift
/// let observer = RecordingFetchObserver()
/// let fetcher = StubDataFetcher(DataResponse()).observing(with: observer, timer: TimerService(ManualClock()))
/// _ = try await fetcher.fetch(DataRequest(url: CommentClient.baseURL))
/// #expect(observer.descriptions.last?.hasSuffix("ended with 200 OK after 0.0 seconds") == true)
/// ```
public final class RecordingFetchObserver: FetchObserver {
    /// A log that several observers can share to record the order of their events.
    private final class Log: Sendable {
        let entries = Mutex<[(name: String?, event: Event)]>([])
    }

    private let log: Log
    private let name: String?

    /// Creates an observer with its own log.
    public init() {
        log = Log()
        name = nil
    }

    /// Creates an observer that shares its log with another one, so that the order of their events is recorded.
    ///
    /// - Parameters:
    ///   - name: The name that identifies this observer's events.
    ///   - other: The observer to share the log with.
    public init(named name: String, sharing other: RecordingFetchObserver) {
        log = other.log
        self.name = name
    }

    /// The events so far, including those of observers that share the log, in order.
    public var events: [Event] { log.entries.withLock { $0.map(\.event) } }

    /// The events so far as text, including those of observers that share the log. If an observer has a name, its events begin
    /// with the name, as in `inner: GET http://upstream.test/ was hedged`.
    public var descriptions: [String] {
        log.entries.withLock(\.self).map { name, event in name.map { "\($0): \(event)" } ?? "\(event)" }
    }

    private func record(_ event: Event) { log.entries.withLock { $0.append((name, event)) } }

    /// Records the end of a request.
    public func requestEnded(
        _ request: DataRequest,
        _ outcome: Result<DataResponse, FetchError>,
        after duration: Duration
    ) {
        record(.requestEnded(request, outcome, after: duration))
    }

    /// Records the beginning and the return of an attempt.
    ///
    /// - Throws: The error of `fetch`.
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

    /// Records the end of an attempt.
    public func attemptEnded(
        _ request: DataRequest,
        _ outcome: Result<DataResponse, FetchError>,
        after duration: Duration
    ) {
        record(.attemptEnded(request, outcome, after: duration))
    }

    /// Records a response from a cache.
    public func answeredFromCache(_ request: DataRequest) { record(.answeredFromCache(request)) }

    /// Records that a request joined an equal one in flight.
    public func joined(_ request: DataRequest) { record(.joined(request)) }

    /// Records a scheduled retry.
    public func retryScheduled(
        _ request: DataRequest,
        after delay: Duration,
        because outcome: Result<DataResponse, FetchError>
    ) {
        record(.retryScheduled(request, after: delay, because: outcome))
    }

    /// Records a hedged attempt.
    public func hedged(_ request: DataRequest) { record(.hedged(request)) }

    /// Records a rejection.
    public func rejected(_ request: DataRequest, because error: FetchError) {
        record(.rejected(request, because: error))
    }

    /// Records a fallback response.
    public func fellBack(_ request: DataRequest, because error: FetchError) {
        record(.fellBack(request, because: error))
    }

    /// Records a refresh of credentials.
    public func credentialsRefreshed(for request: DataRequest) { record(.credentialsRefreshed(request)) }

    /// Records a state transition of a circuit breaker.
    public func circuitChanged(_ circuit: String, from old: String, to new: String) {
        record(.circuitChanged(circuit, from: old, to: new))
    }

    /// Records what happened to a call of an operation, in words.
    public func operation(_ name: String, _ event: OperationEvent) {
        record(.operation(name, event: "\(event)"))
    }
}

extension RecordingFetchObserver {
    /// An event that an observer receives.
    public enum Event: Hashable, Sendable {
        /// A request to the pipeline has ended.
        case requestEnded(DataRequest, Result<DataResponse, FetchError>, after: Duration)
        /// A call to ``RecordingFetchObserver/surroundAttempt(_:_:)`` has begun.
        case attemptBegan(DataRequest)
        /// The `fetch` of a call to ``RecordingFetchObserver/surroundAttempt(_:_:)`` has returned or thrown.
        case attemptReturned(DataRequest, Result<DataResponse, FetchError>)
        /// An attempt has ended.
        case attemptEnded(DataRequest, Result<DataResponse, FetchError>, after: Duration)
        /// A request was answered from a cache.
        case answeredFromCache(DataRequest)
        /// A request joined an equal one in flight.
        case joined(DataRequest)
        /// A retry was scheduled.
        case retryScheduled(DataRequest, after: Duration, because: Result<DataResponse, FetchError>)
        /// A second, hedged attempt was started.
        case hedged(DataRequest)
        /// A request was rejected without being sent.
        case rejected(DataRequest, because: FetchError)
        /// A fallback answered a failed request.
        case fellBack(DataRequest, because: FetchError)
        /// Credentials were refreshed.
        case credentialsRefreshed(DataRequest)
        /// A circuit breaker changed its state.
        case circuitChanged(String, from: String, to: String)
        /// Something happened to a call of an operation.
        case operation(String, event: String)
    }
}

extension RecordingFetchObserver.Event: CustomStringConvertible {
    /// The event as text, such as `GET http://upstream.test/ ended with 200 OK after 2.0 seconds`.
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
        case .operation(let name, let event): "\(name) \(event)"
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
