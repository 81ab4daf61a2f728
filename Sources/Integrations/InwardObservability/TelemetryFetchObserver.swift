#if Observability
public import InwardFetching
public import Logging
public import Metrics
public import Tracing

/// Tells what happens to requests by logs, metrics and traces alike: a ``LoggingFetchObserver``, a ``MeteringFetchObserver`` and
/// a ``TracingFetchObserver`` as one.
///
/// To leave one out, hand the others to the pipeline one after the other: `observing(with:)` can be called more than once.
public struct TelemetryFetchObserver: FetchObserver {
    private let logging: LoggingFetchObserver
    private let metering: MeteringFetchObserver
    private let tracing: TracingFetchObserver

    /// Makes an observer of these three.
    public init(
        logging: LoggingFetchObserver = LoggingFetchObserver(),
        metering: MeteringFetchObserver = MeteringFetchObserver(),
        tracing: TracingFetchObserver = TracingFetchObserver()
    ) {
        self.logging = logging
        self.metering = metering
        self.tracing = tracing
    }

    /// Makes an observer of all three kinds.
    ///
    /// - Parameters:
    ///   - logger: Who writes.
    ///   - factory: Who makes instruments.
    ///   - tracer: Who makes spans.
    public init(logger: Logger, factory: any MetricsFactory, tracer: any Tracer) {
        self.init(
            logging: LoggingFetchObserver(logger: logger),
            metering: MeteringFetchObserver(factory: factory),
            tracing: TracingFetchObserver(tracer: tracer)
        )
    }

    /// Writes how a request ended, and records how long it took.
    public func requestEnded(
        _ request: DataRequest,
        _ outcome: Result<DataResponse, FetchError>,
        after duration: Duration
    ) {
        logging.requestEnded(request, outcome, after: duration)
        metering.requestEnded(request, outcome, after: duration)
    }

    /// Makes a span around an attempt.
    ///
    /// - Throws: what `fetch` throws.
    public func surroundAttempt(
        _ request: DataRequest,
        _ fetch: (DataRequest) async throws(FetchError) -> DataResponse
    ) async throws(FetchError) -> DataResponse {
        try await tracing.surroundAttempt(request, fetch)
    }

    /// Writes how an attempt ended, and records how long it took.
    public func attemptEnded(
        _ request: DataRequest,
        _ outcome: Result<DataResponse, FetchError>,
        after duration: Duration
    ) {
        logging.attemptEnded(request, outcome, after: duration)
        metering.attemptEnded(request, outcome, after: duration)
    }

    /// Writes and counts an answer from a cache.
    public func answeredFromCache(_ request: DataRequest) {
        logging.answeredFromCache(request)
        metering.answeredFromCache(request)
    }

    /// Writes and counts a wait for an equal request.
    public func joined(_ request: DataRequest) {
        logging.joined(request)
        metering.joined(request)
    }

    /// Writes and counts a retry.
    public func retryScheduled(
        _ request: DataRequest,
        after delay: Duration,
        because outcome: Result<DataResponse, FetchError>
    ) {
        logging.retryScheduled(request, after: delay, because: outcome)
        metering.retryScheduled(request, after: delay, because: outcome)
    }

    /// Writes and counts a second attempt beside the first.
    public func hedged(_ request: DataRequest) {
        logging.hedged(request)
        metering.hedged(request)
    }

    /// Writes and counts a refusal.
    public func rejected(_ request: DataRequest, because error: FetchError) {
        logging.rejected(request, because: error)
        metering.rejected(request, because: error)
    }

    /// Writes and counts an answer in place of a failed one.
    public func fellBack(_ request: DataRequest, because error: FetchError) {
        logging.fellBack(request, because: error)
        metering.fellBack(request, because: error)
    }

    /// Writes and counts that credentials were asked for anew.
    public func credentialsRefreshed(for request: DataRequest) {
        logging.credentialsRefreshed(for: request)
        metering.credentialsRefreshed(for: request)
    }

    /// Writes and counts a change of a circuit.
    public func circuitChanged(_ circuit: String, from old: String, to new: String) {
        logging.circuitChanged(circuit, from: old, to: new)
        metering.circuitChanged(circuit, from: old, to: new)
    }
}
#endif
