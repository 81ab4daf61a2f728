#if Observability
public import InwardFetching
public import Logging

/// A fetch observer that writes swift-log records.
///
/// ```swift
/// let fetcher = URLSessionDataFetcher().observing(with: LoggingFetchObserver(logger: logger))
/// ```
///
/// | level | events |
/// |---|---|
/// | `debug` | attempts, requests, cache hits, waits for an equal request |
/// | `info` | retries, hedges, credential refreshes |
/// | `notice` | circuits that become closed, half-open or isolated |
/// | `warning` | rejections, fallbacks, circuits that open |
///
/// Each event has a fixed message. Variable data is in the metadata, under the names of OpenTelemetry's semantic conventions.
/// Durations are in seconds. Records contain no credentials, and hidden characters are escaped, as in `\u{1B}`.
///
/// The record of an operation includes the error only if its type belongs to this package. The text of any other error can contain
/// secrets, such as the parameters of a query, so the record has only its type, as `error.type`.
public struct LoggingFetchObserver: FetchObserver {
    private let logger: Logger

    /// Creates an observer that writes to a logger.
    ///
    /// - Parameter logger: The logger, whose log level applies. The default has the label `inward` and uses the logging
    ///   system's current handler.
    public init(logger: Logger = Logger(label: "inward")) {
        self.logger = logger
    }

    /// Logs the outcome and duration of a request.
    public func requestEnded(
        _ request: DataRequest,
        _ outcome: Result<DataResponse, FetchError>,
        after duration: Duration
    ) {
        logger.debug(
            "Request ended",
            metadata: .of(request, outcome, [AttributeName.requestDuration: AttributeValue(duration)])
        )
    }

    /// Logs the outcome and duration of an attempt.
    public func attemptEnded(
        _ request: DataRequest,
        _ outcome: Result<DataResponse, FetchError>,
        after duration: Duration
    ) {
        logger.debug(
            "Attempt ended",
            metadata: .of(request, outcome, [AttributeName.attemptDuration: AttributeValue(duration)])
        )
    }

    /// Logs a response from a cache.
    public func answeredFromCache(_ request: DataRequest) {
        logger.debug("Answered from cache", metadata: .of(request))
    }

    /// Logs that a request waits for an equal one.
    public func joined(_ request: DataRequest) {
        logger.debug("Joined an equal request", metadata: .of(request))
    }

    /// Logs the delay and the reason of a retry.
    public func retryScheduled(
        _ request: DataRequest,
        after delay: Duration,
        because outcome: Result<DataResponse, FetchError>
    ) {
        logger.info(
            "Retry scheduled",
            metadata: .of(request, outcome, [AttributeName.retryDelay: AttributeValue(delay)])
        )
    }

    /// Logs the start of a hedged attempt.
    public func hedged(_ request: DataRequest) {
        logger.info("Hedged", metadata: .of(request))
    }

    /// Logs a rejection and its reason.
    public func rejected(_ request: DataRequest, because error: FetchError) {
        logger.warning("Rejected", metadata: .of(request, .failure(error)))
    }

    /// Logs a fallback and its reason.
    public func fellBack(_ request: DataRequest, because error: FetchError) {
        logger.warning("Fell back", metadata: .of(request, .failure(error)))
    }

    /// Logs a credential refresh.
    public func credentialsRefreshed(for request: DataRequest) {
        logger.info("Credentials refreshed", metadata: .of(request))
    }

    /// Logs a circuit's state transition, as a warning if the circuit opens.
    public func circuitChanged(_ circuit: String, from old: String, to new: String) {
        logger.log(
            level: new.hasPrefix("open") ? .warning : .notice,
            "Circuit changed",
            metadata: .of(
                FetchAttributes.interaction.merging(
                    FetchAttributes([
                        AttributeName.circuit: .text(circuit), AttributeName.circuitStateBefore: .text(old),
                        AttributeName.circuitState: .text(new),
                    ])
                )
            )
        )
    }

    /// Logs an event of an operation: a rejection or a fallback at the level `warning`, a retry or a hedge at `info`, and any other
    /// event at `debug`.
    public func operation(_ name: String, _ event: OperationEvent) {
        var attributes: [String: AttributeValue] = [
            AttributeName.operation: .text(name), AttributeName.operationEvent: .text(event.name),
        ]
        switch event {
        case .ended(_, let duration): attributes[AttributeName.operationDuration] = AttributeValue(duration)
        case .attemptEnded(_, let duration):
            attributes[AttributeName.operationAttemptDuration] = AttributeValue(duration)
        case .retryScheduled(_, let delay, _): attributes[AttributeName.retryDelay] = AttributeValue(delay)
        default: break
        }
        if let error = event.error { attributes[AttributeName.errorType] = .text(error.category) }
        logger.log(
            level: event.level,
            "Operation",
            error: event.error.flatMap { $0.credentialFreeText == nil ? nil : $0 },
            metadata: .of(FetchAttributes.interaction.merging(FetchAttributes(attributes)))
        )
    }
}

extension OperationEvent {
    /// The name of the event as an attribute.
    var name: String {
        switch self {
        case .ended: "ended"
        case .attemptEnded: "attempt_ended"
        case .joined: "joined"
        case .retryScheduled: "retry_scheduled"
        case .hedged: "hedged"
        case .rejected: "rejected"
        case .fellBack: "fell_back"
        }
    }

    /// The error of the event, or `nil` if the event has no error.
    var error: (any Error)? {
        switch self {
        case .ended(let error, _), .attemptEnded(let error, _): error
        case .retryScheduled(_, _, let error), .fellBack(let error): error
        case .rejected(let error): error
        case .joined, .hedged: nil
        }
    }

    fileprivate var level: Logger.Level {
        switch self {
        case .ended, .attemptEnded, .joined: .debug
        case .retryScheduled, .hedged: .info
        case .rejected, .fellBack: .warning
        }
    }
}

extension Logger.Metadata {
    /// Returns the metadata of attributes.
    static func of(_ attributes: FetchAttributes) -> Self { attributes.values.mapValues { .string($0.description) } }

    /// Returns the metadata of a request, its outcome and additional values.
    static func of(
        _ request: DataRequest,
        _ outcome: Result<DataResponse, FetchError>? = nil,
        _ others: [String: AttributeValue] = [:]
    ) -> Self {
        var attributes = FetchAttributes.interaction.merging(FetchAttributes(request)).merging(FetchAttributes(others))
        if let outcome {
            attributes = attributes.merging(FetchAttributes(outcome))
        }
        if let message = outcome?.errorMessage {
            attributes = attributes.merging(FetchAttributes([AttributeName.errorMessage: .text(message)]))
        }
        return .of(attributes)
    }
}
#endif
