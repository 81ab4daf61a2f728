/// Is told what happens to requests, as it happens, by a pipeline that ends with ``DataFetcher/observing(with:timer:)``.
///
/// Every method has a default that does nothing, so that an observer takes what it is for, and new ones break nobody. They are
/// called from many tasks at once, and the request waits for them: return soon.
public protocol FetchObserver: Sendable {
    /// A request that came to the pipeline has ended.
    ///
    /// - Parameters:
    ///   - request: What was asked.
    ///   - outcome: What the caller gets.
    ///   - duration: How long it took, all attempts and waits together.
    func requestEnded(_ request: DataRequest, _ outcome: Result<DataResponse, FetchError>, after duration: Duration)

    /// Surrounds an attempt: what the pipeline hands to the fetcher at its end.
    ///
    /// - Parameters:
    ///   - request: What is sent; ``DataRequest/attempt`` says for which time.
    ///   - fetch: Sends it. An observer calls it once, with the request or one that has header fields added.
    /// - Returns: what `fetch` returns.
    /// - Throws: what `fetch` throws.
    func surroundAttempt(
        _ request: DataRequest,
        _ fetch: (DataRequest) async throws(FetchError) -> DataResponse
    ) async throws(FetchError) -> DataResponse

    /// An attempt has ended.
    ///
    /// - Parameters:
    ///   - request: What was sent; ``DataRequest/attempt`` says for which time.
    ///   - outcome: What came of it.
    ///   - duration: How long it took.
    func attemptEnded(_ request: DataRequest, _ outcome: Result<DataResponse, FetchError>, after duration: Duration)

    /// A request was answered from a cache.
    func answeredFromCache(_ request: DataRequest)

    /// A request waits for the answer to an equal one that is under way.
    func joined(_ request: DataRequest)

    /// A request is tried again after a while.
    ///
    /// - Parameters:
    ///   - request: What is asked; ``DataRequest/attempt`` says for which time it will be.
    ///   - delay: How long is waited before.
    ///   - outcome: What came of the attempt before.
    func retryScheduled(
        _ request: DataRequest,
        after delay: Duration,
        because outcome: Result<DataResponse, FetchError>
    )

    /// A second attempt was begun because the first takes long.
    func hedged(_ request: DataRequest)

    /// A request was refused by a limit or an open circuit, and not sent.
    func rejected(_ request: DataRequest, because error: FetchError)

    /// A request was answered by another fetcher, or with a fixed answer, in place of the one that failed.
    func fellBack(_ request: DataRequest, because error: FetchError)

    /// Credentials were asked for anew, because the source did not take those it got.
    func credentialsRefreshed(for request: DataRequest)

    /// A circuit has opened, closed, or lets probes through, because of a request. What is changed by hand is not told.
    ///
    /// - Parameters:
    ///   - circuit: The breaker's name.
    ///   - old: Its state before, as the breaker describes it.
    ///   - new: Its state from now on.
    func circuitChanged(_ circuit: String, from old: String, to new: String)
}

extension FetchObserver {
    /// Nothing.
    public func requestEnded(
        _ request: DataRequest,
        _ outcome: Result<DataResponse, FetchError>,
        after duration: Duration
    ) {}

    /// What `fetch` gives, and nothing else.
    ///
    /// - Throws: what `fetch` throws.
    public func surroundAttempt(
        _ request: DataRequest,
        _ fetch: (DataRequest) async throws(FetchError) -> DataResponse
    ) async throws(FetchError) -> DataResponse {
        try await fetch(request)
    }

    /// Nothing.
    public func attemptEnded(
        _ request: DataRequest,
        _ outcome: Result<DataResponse, FetchError>,
        after duration: Duration
    ) {}

    /// Nothing.
    public func answeredFromCache(_ request: DataRequest) {}
    /// Nothing.
    public func joined(_ request: DataRequest) {}
    /// Nothing.
    public func retryScheduled(
        _ request: DataRequest,
        after delay: Duration,
        because outcome: Result<DataResponse, FetchError>
    ) {}
    /// Nothing.
    public func hedged(_ request: DataRequest) {}
    /// Nothing.
    public func rejected(_ request: DataRequest, because error: FetchError) {}
    /// Nothing.
    public func fellBack(_ request: DataRequest, because error: FetchError) {}
    /// Nothing.
    public func credentialsRefreshed(for request: DataRequest) {}
    /// Nothing.
    public func circuitChanged(_ circuit: String, from old: String, to new: String) {}
}

/// Those who are told what happens in a pipeline, the innermost first. Without any, nothing is spent on it.
struct FetchObservers: Sendable {
    private var observers: [any FetchObserver] = []

    mutating func append(_ observer: any FetchObserver) { observers.append(observer) }

    func tell(_ tell: (any FetchObserver) -> Void) {
        guard !observers.isEmpty else { return }
        for observer in observers { tell(observer) }
    }

    /// Has every observer surround an attempt, the outermost around the others.
    func surroundAttempt(
        _ request: DataRequest,
        _ fetch: (DataRequest) async throws(FetchError) -> DataResponse
    ) async throws(FetchError) -> DataResponse {
        try await surround(observers[...], request, fetch)
    }

    private func surround(
        _ rest: ArraySlice<any FetchObserver>,
        _ request: DataRequest,
        _ fetch: (DataRequest) async throws(FetchError) -> DataResponse
    ) async throws(FetchError) -> DataResponse {
        guard let outermost = rest.last else { return try await fetch(request) }
        return try await outermost.surroundAttempt(request) { request async throws(FetchError) in
            try await surround(rest.dropLast(), request, fetch)
        }
    }
}

/// A decorator that tells observers what it does.
protocol ReportingDataFetcher: DecoratingDataFetcher {
    var observers: FetchObservers { get set }
}
