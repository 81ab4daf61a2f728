#if Observability
public import InwardFetching
public import Logging
public import Metrics
public import Tracing

/// A fetch observer that writes logs, metrics and traces.
///
/// ```swift
/// let fetcher = URLSessionDataFetcher().observing(with: TelemetryFetchObserver())
/// ```
///
/// It combines a ``LoggingFetchObserver``, a ``MeteringFetchObserver`` and a ``TracingFetchObserver``. To leave one of them out, call
/// `observing(with:)` once for each of the others.
public struct TelemetryFetchObserver: FetchObserver {
    private let logging: LoggingFetchObserver
    private let metering: MeteringFetchObserver
    private let tracing: TracingFetchObserver

    /// Creates an observer from three observers.
    public init(
        logging: LoggingFetchObserver = LoggingFetchObserver(),
        metering: MeteringFetchObserver = MeteringFetchObserver(),
        tracing: TracingFetchObserver = TracingFetchObserver()
    ) {
        self.logging = logging
        self.metering = metering
        self.tracing = tracing
    }

    /// Creates an observer from a logger, a metrics factory and a tracer.
    ///
    /// - Parameters:
    ///   - logger: The logger of the records.
    ///   - factory: The factory of the instruments.
    ///   - tracer: The tracer of the spans.
    public init(logger: Logger, factory: any MetricsFactory, tracer: any Tracer) {
        self.init(
            logging: LoggingFetchObserver(logger: logger),
            metering: MeteringFetchObserver(factory: factory),
            tracing: TracingFetchObserver(tracer: tracer)
        )
    }

    /// Logs the outcome of a request and records its duration.
    public func requestEnded(
        _ request: DataRequest,
        _ outcome: Result<DataResponse, FetchError>,
        after duration: Duration
    ) {
        logging.requestEnded(request, outcome, after: duration)
        metering.requestEnded(request, outcome, after: duration)
    }

    /// Runs an attempt in a span.
    ///
    /// - Throws: The error of `fetch`.
    public func surroundAttempt(
        _ request: DataRequest,
        _ fetch: (DataRequest) async throws(FetchError) -> DataResponse
    ) async throws(FetchError) -> DataResponse {
        try await tracing.surroundAttempt(request, fetch)
    }

    /// Logs the outcome of an attempt and records its duration.
    public func attemptEnded(
        _ request: DataRequest,
        _ outcome: Result<DataResponse, FetchError>,
        after duration: Duration
    ) {
        logging.attemptEnded(request, outcome, after: duration)
        metering.attemptEnded(request, outcome, after: duration)
    }

    /// Logs and counts a response from a cache.
    public func answeredFromCache(_ request: DataRequest) {
        logging.answeredFromCache(request)
        metering.answeredFromCache(request)
    }

    /// Logs and counts a request that waits for an equal one.
    public func joined(_ request: DataRequest) {
        logging.joined(request)
        metering.joined(request)
    }

    /// Logs and counts a retry.
    public func retryScheduled(
        _ request: DataRequest,
        after delay: Duration,
        because outcome: Result<DataResponse, FetchError>
    ) {
        logging.retryScheduled(request, after: delay, because: outcome)
        metering.retryScheduled(request, after: delay, because: outcome)
    }

    /// Logs and counts a hedged attempt.
    public func hedged(_ request: DataRequest) {
        logging.hedged(request)
        metering.hedged(request)
    }

    /// Logs and counts a rejection.
    public func rejected(_ request: DataRequest, because error: FetchError) {
        logging.rejected(request, because: error)
        metering.rejected(request, because: error)
    }

    /// Logs and counts a fallback.
    public func fellBack(_ request: DataRequest, because error: FetchError) {
        logging.fellBack(request, because: error)
        metering.fellBack(request, because: error)
    }

    /// Logs and counts a credential refresh.
    public func credentialsRefreshed(for request: DataRequest) {
        logging.credentialsRefreshed(for: request)
        metering.credentialsRefreshed(for: request)
    }

    /// Logs and counts a circuit's state transition.
    public func circuitChanged(_ circuit: String, from old: String, to new: String) {
        logging.circuitChanged(circuit, from: old, to: new)
        metering.circuitChanged(circuit, from: old, to: new)
    }

    /// Logs an event of an operation, and records its duration or counts it.
    public func operation(_ name: String, _ event: OperationEvent) {
        logging.operation(name, event)
        metering.operation(name, event)
    }

    /// Runs a call or an attempt of an operation in a span.
    ///
    /// - Throws: The error of `work`.
    public func surroundOperation<Output: Sendable, Failure: Error>(
        _ step: OperationStep,
        _ work: () async throws(Failure) -> Output
    ) async throws(Failure) -> Output {
        try await tracing.surroundOperation(step, work)
    }
}
#endif
