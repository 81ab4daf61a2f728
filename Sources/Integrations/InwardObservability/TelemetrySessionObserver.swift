#if Observability
import InwardCore
public import InwardScopes
public import Logging
public import Metrics
public import Tracing

/// An observer of sessions that writes logs and metrics.
///
/// ```swift
/// configuration.observers.sessions = TelemetrySessionObserver(logger: logger)
/// ```
///
/// A gauge shows the number of open sessions. Timers measure how long opening took and how long sessions were open. Counters count
/// expired, evicted and rejected sessions. <doc:TelemetryNames> lists the metrics. Telemetry contains no names of users.
///
/// Rejections are logged at the level `warning`, evictions at `info`, and other events at `debug`.
public struct TelemetrySessionObserver: SessionObserver {
    private let logger: Logger
    private let open: Meter
    private let openingDurations: Timer
    private let durations: Timer
    private let expired: Counter
    private let evicted: Counter
    private let rejected: Counter

    /// Creates an observer. By default, it uses the logger and the metrics factory that the process has bootstrapped.
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

    /// Increments the number of open sessions, and records how long opening took.
    public func sessionOpened(_ user: String, after duration: Duration) {
        open.increment()
        openingDurations.record(duration: duration)
        write(.debug, "Session opened", [AttributeName.sessionOpeningDuration: AttributeValue(duration)])
    }

    /// Decrements the number of open sessions, and records how long the session was open.
    public func sessionClosed(_ user: String, after duration: Duration) {
        open.decrement()
        durations.record(duration: duration)
        write(.debug, "Session closed", [AttributeName.sessionDuration: AttributeValue(duration)])
    }

    /// Logs and counts a session that was closed because it was unused.
    public func sessionExpired(_ user: String) {
        expired.increment()
        write(.debug, "Session expired")
    }

    /// Logs and counts a session that was closed to make room for another one.
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
    /// ```swift
    /// var configuration = AppScopeConfiguration(upstream)
    /// configuration.observers = .telemetry()
    /// ```
    ///
    /// The default arguments use the backends that the process has bootstrapped, so bootstrap swift-log, swift-metrics and
    /// swift-distributed-tracing first.
    ///
    /// - Parameters:
    ///   - logger: The logger of the records.
    ///   - factory: The factory of the instruments.
    ///   - tracer: The tracer of the spans.
    /// - Returns: The observers. Use them for one app only, because their gauges show the sum over all outboxes and sessions.
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
