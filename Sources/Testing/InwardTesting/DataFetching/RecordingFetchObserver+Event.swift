public import InwardFetching

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
