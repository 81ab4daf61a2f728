#if Observability
public import InwardFetching
public import Logging

/// Writes what happens to requests as log records of swift-log.
///
/// An attempt, a request, an answer from a cache and a wait for an equal request are records of the level `debug`. A retry, a
/// hedge and new credentials are `info`; a rejection, an answer in place of a failed one and a circuit that opens are
/// `warning`; any other change of a circuit is `notice`.
///
/// A message is always the same for one event. What differs is in the metadata, by the names of OpenTelemetry's semantic
/// conventions, durations in seconds. No record has a credential in it,
/// and no hidden character: these are written out, as `\u{1B}`.
public struct LoggingFetchObserver: FetchObserver {
    private let logger: Logger

    /// Makes an observer that writes with a logger.
    ///
    /// - Parameter logger: Who writes, from its own level on; by default one labelled `inward`, of the handler that the
    ///   logging system has at this moment.
    public init(logger: Logger = Logger(label: "inward")) {
        self.logger = logger
    }

    /// Writes how a request ended, and after how long.
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

    /// Writes how an attempt ended, and after how long.
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

    /// Writes that a cache answered.
    public func answeredFromCache(_ request: DataRequest) {
        logger.debug("Answered from cache", metadata: .of(request))
    }

    /// Writes that a request waits for an equal one.
    public func joined(_ request: DataRequest) {
        logger.debug("Joined an equal request", metadata: .of(request))
    }

    /// Writes that a request will be tried again, after how long and why.
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

    /// Writes that a second attempt was begun.
    public func hedged(_ request: DataRequest) {
        logger.info("Hedged", metadata: .of(request))
    }

    /// Writes that a request was refused, and why.
    public func rejected(_ request: DataRequest, because error: FetchError) {
        logger.warning("Rejected", metadata: .of(request, .failure(error)))
    }

    /// Writes that something else answered, and why.
    public func fellBack(_ request: DataRequest, because error: FetchError) {
        logger.warning("Fell back", metadata: .of(request, .failure(error)))
    }

    /// Writes that credentials were asked for anew.
    public func credentialsRefreshed(for request: DataRequest) {
        logger.info("Credentials refreshed", metadata: .of(request))
    }

    /// Writes how a circuit changed: a warning when it opens.
    public func circuitChanged(_ circuit: String, from old: String, to new: String) {
        logger.log(
            level: new.hasPrefix("open") ? .warning : .notice,
            "Circuit changed",
            metadata: [
                AttributeName.circuit: "\(AttributeValue.text(circuit))",
                AttributeName.circuitStateBefore: "\(AttributeValue.text(old))",
                AttributeName.circuitState: "\(AttributeValue.text(new))",
            ]
        )
    }
}

extension Logger.Metadata {
    /// What a record says of a request, of what came of it, and besides.
    static func of(
        _ request: DataRequest,
        _ outcome: Result<DataResponse, FetchError>? = nil,
        _ others: [String: AttributeValue] = [:]
    ) -> Self {
        var attributes = FetchAttributes(request).merging(FetchAttributes(others))
        if let outcome {
            attributes = attributes.merging(FetchAttributes(outcome))
        }
        if let message = outcome?.errorMessage {
            attributes = attributes.merging(FetchAttributes([AttributeName.errorMessage: .text(message)]))
        }
        return attributes.values.mapValues { .string($0.description) }
    }
}
#endif
