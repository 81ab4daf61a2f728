#if Observability
import InwardCore
public import InwardScopes
public import Logging
public import Metrics
public import Tracing

/// An observer of sessions that writes logs and metrics.
///
///     configuration.observers.sessions = TelemetrySessionObserver()
///
/// A gauge tells how many sessions are open, and counters how many were opened, expired, evicted and rejected. The names are in the
/// table of this module's documentation. No user is named. Evictions are logged at the level `info`, rejections as warnings, and
/// everything else at the level `debug`.
public struct TelemetrySessionObserver: SessionObserver {
    private let logger: Logger
    private let open: Meter
    private let openingDurations: Timer
    private let durations: Timer
    private let expired: Counter
    private let evicted: Counter
    private let rejected: Counter

    /// Creates an observer from a logger and a metrics factory. The defaults are those of the process.
    ///
    /// - Parameters:
    ///   - logger: The logger of the records.
    ///   - factory: The factory of the instruments.
    public init(
        logger: Logger = Logger(label: "inward"),
        factory: any MetricsFactory = MetricsSystem.factory
    ) {
        func timer(_ label: String) -> Timer {
            Timer(label: label, dimensions: [], preferredDisplayUnit: .seconds, factory: factory)
        }
        func counter(_ event: String) -> Counter { Counter(label: "inward.sessions.\(event)", factory: factory) }
        self.logger = logger
        open = Meter(label: "inward.sessions.open", factory: factory)
        openingDurations = timer(AttributeName.sessionOpeningDuration)
        durations = timer(AttributeName.sessionDuration)
        expired = counter("expired")
        evicted = counter("evicted")
        rejected = counter("rejected")
    }

    /// Counts an open session, and logs how long it took to open it.
    public func sessionOpened(_ user: String, after duration: Duration) {
        open.increment()
        openingDurations.record(duration: duration)
        write(.debug, "Session opened", [AttributeName.sessionOpeningDuration: AttributeValue(duration)])
    }

    /// Takes a session off the open ones, and logs how long it was open.
    public func sessionClosed(_ user: String, after duration: Duration) {
        open.decrement()
        durations.record(duration: duration)
        write(.debug, "Session closed", [AttributeName.sessionDuration: AttributeValue(duration)])
    }

    /// Logs and counts a session that was not used.
    public func sessionExpired(_ user: String) {
        expired.increment()
        write(.debug, "Session expired")
    }

    /// Logs and counts a session that made room for another.
    public func sessionEvicted(_ user: String) {
        evicted.increment()
        write(.info, "Session evicted")
    }

    /// Logs and counts a rejected request.
    public func sessionRejected(_ user: String) {
        rejected.increment()
        write(.warning, "Session rejected")
    }

    private func write(
        _ level: Logger.Level,
        _ message: Logger.Message,
        _ attributes: [String: AttributeValue] = [:]
    ) {
        logger.log(
            level: level,
            message,
            metadata: .of(FetchAttributes.interaction.merging(FetchAttributes(attributes)))
        )
    }
}

extension AppObservers {
    /// Returns observers that write logs, metrics and traces of requests, repositories, outboxes and sessions.
    ///
    ///     var configuration = AppScopeConfiguration(upstream)
    ///     configuration.observers = .telemetry()
    ///
    /// The defaults are those of the process, so bootstrap the systems of swift-log, swift-metrics and swift-distributed-tracing
    /// first.
    ///
    /// - Parameters:
    ///   - logger: The logger of the records.
    ///   - factory: The factory of the instruments.
    ///   - tracer: The tracer of the spans.
    /// - Returns: the observers. Use them for one app.
    public static func telemetry(
        logger: Logger = Logger(label: "inward"),
        factory: any MetricsFactory = MetricsSystem.factory,
        tracer: any Tracer = InstrumentationSystem.tracer
    ) -> AppObservers {
        AppObservers(
            fetching: TelemetryFetchObserver(logger: logger, factory: factory, tracer: tracer),
            repositories: TelemetryRepositoryObserver(logger: logger, factory: factory, tracer: tracer),
            sessions: TelemetrySessionObserver(logger: logger, factory: factory)
        )
    }
}
#endif
