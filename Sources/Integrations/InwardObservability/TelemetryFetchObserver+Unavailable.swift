#if !Observability
public import InwardCore
public import InwardFetching
public import InwardImages
public import InwardRepositories
public import InwardScopes

/// A fetch observer for logs, metrics and traces. Available when the package trait `Observability` is enabled.
///
/// Without the trait, this placeholder lets the compiler name the trait to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait Observability of the package: .package(url: …, from: …, traits: [\"Observability\"])"
)
public struct TelemetryFetchObserver: FetchObserver {
    /// Creates a placeholder.
    public init() {}

    /// Accepts the same arguments as the real observer.
    public init(logging: LoggingFetchObserver, metering: MeteringFetchObserver, tracing: TracingFetchObserver) {}

    /// Accepts the same arguments as the real observer.
    public init(logger: some Any, factory: some Any, tracer: some Any) {}
}

/// A fetch observer that writes swift-log records. Available when the package trait `Observability` is enabled.
///
/// Without the trait, this placeholder lets the compiler name the trait to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait Observability of the package: .package(url: …, from: …, traits: [\"Observability\"])"
)
public struct LoggingFetchObserver: FetchObserver {
    /// Creates a placeholder.
    public init() {}

    /// Accepts the same arguments as the real observer.
    public init(logger: some Any) {}
}

/// A fetch observer that records swift-metrics counters and timers. Available when the package trait `Observability` is enabled.
///
/// Without the trait, this placeholder lets the compiler name the trait to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait Observability of the package: .package(url: …, from: …, traits: [\"Observability\"])"
)
public struct MeteringFetchObserver: FetchObserver {
    /// Creates a placeholder.
    public init() {}

    /// Accepts the same arguments as the real observer.
    public init(factory: some Any, labelSetLimit: Int = 2_000) {}
}

/// A fetch observer that creates swift-distributed-tracing spans. Available when the package trait `Observability` is enabled.
///
/// Without the trait, this placeholder lets the compiler name the trait to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait Observability of the package: .package(url: …, from: …, traits: [\"Observability\"])"
)
public struct TracingFetchObserver: FetchObserver {
    /// Creates a placeholder.
    public init() {}

    /// Accepts the same arguments as the real observer.
    public init(tracer: some Any) {}
}

/// A repository observer for logs, metrics and traces. Available when the package trait `Observability` is enabled.
///
/// Without the trait, this placeholder lets the compiler name the trait to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait Observability of the package: .package(url: …, from: …, traits: [\"Observability\"])"
)
public struct TelemetryRepositoryObserver: RepositoryObserver {
    /// Creates a placeholder.
    public init() {}

    /// Accepts the same arguments as the real observer.
    public init(logger: some Any, factory: some Any, tracer: some Any) {}
}

/// An image observer for logs, metrics and traces. Available when the package trait `Observability` is enabled.
///
/// Without the trait, this placeholder lets the compiler name the trait to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait Observability of the package: .package(url: …, from: …, traits: [\"Observability\"])"
)
public struct TelemetryImageObserver: ImageObserver {
    /// Creates a placeholder.
    public init() {}

    /// Accepts the same arguments as the real observer.
    public init(logger: some Any, factory: some Any, tracer: some Any) {}
}

/// A session observer for logs and metrics. Available when the package trait `Observability` is enabled.
///
/// Without the trait, this placeholder lets the compiler name the trait to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait Observability of the package: .package(url: …, from: …, traits: [\"Observability\"])"
)
public struct TelemetrySessionObserver: SessionObserver {
    /// Creates a placeholder.
    public init() {}

    /// Accepts the same arguments as the real observer.
    public init(logger: some Any, factory: some Any) {}
}

extension AppObservers {
    /// Accepts no arguments, as the real function can.
    @available(
        *,
        unavailable,
        message: "Enable the trait Observability of the package: .package(url: …, from: …, traits: [\"Observability\"])"
    )
    public static func telemetry() -> AppObservers { AppObservers() }
}

extension ErrorHandler {
    /// Accepts the same arguments as the real function, for an error handler that hands each error to a logger whole.
    @available(
        *,
        unavailable,
        message: "Enable the trait Observability of the package: .package(url: …, from: …, traits: [\"Observability\"])"
    )
    public func logging(with logger: some Any) -> some ErrorHandler { IgnoringErrorHandler() }
}
#endif
