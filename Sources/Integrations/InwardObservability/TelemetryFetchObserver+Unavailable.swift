#if !Observability
public import InwardCore
public import InwardFetching
public import InwardImages
public import InwardRepositories
public import InwardScopes

/// A fetch observer for logs, metrics and traces. Available when the package trait `Observability` is enabled.
///
/// Without the trait, this placeholder makes the compiler name the trait to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait Observability of the package: .package(url: …, from: …, traits: [\"Observability\"])"
)
public struct TelemetryFetchObserver: FetchObserver {
    /// Accepts the same arguments as the real observer.
    public init(
        logging: LoggingFetchObserver = LoggingFetchObserver(),
        metering: MeteringFetchObserver = MeteringFetchObserver(),
        tracing: TracingFetchObserver = TracingFetchObserver()
    ) {}

    /// Accepts the same arguments as the real observer.
    public init(logger: some Any, factory: some Any, tracer: some Any) {}
}

/// A fetch observer that writes swift-log records. Available when the package trait `Observability` is enabled.
///
/// Without the trait, this placeholder makes the compiler name the trait to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait Observability of the package: .package(url: …, from: …, traits: [\"Observability\"])"
)
public struct LoggingFetchObserver: FetchObserver {
    /// Accepts the same arguments as the real observer.
    public init(logger: some Any = ()) {}
}

/// A fetch observer that records swift-metrics counters and timers. Available when the package trait `Observability` is enabled.
///
/// Without the trait, this placeholder makes the compiler name the trait to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait Observability of the package: .package(url: …, from: …, traits: [\"Observability\"])"
)
public struct MeteringFetchObserver: FetchObserver {
    /// Accepts the same arguments as the real observer.
    public init(factory: some Any = (), labelSetLimit: Int = 2_000) {}
}

/// A fetch observer that creates swift-distributed-tracing spans. Available when the package trait `Observability` is enabled.
///
/// Without the trait, this placeholder makes the compiler name the trait to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait Observability of the package: .package(url: …, from: …, traits: [\"Observability\"])"
)
public struct TracingFetchObserver: FetchObserver {
    /// Accepts the same arguments as the real observer.
    public init(tracer: some Any = ()) {}
}

/// A repository observer for logs, metrics and traces. Available when the package trait `Observability` is enabled.
///
/// Without the trait, this placeholder makes the compiler name the trait to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait Observability of the package: .package(url: …, from: …, traits: [\"Observability\"])"
)
public struct TelemetryRepositoryObserver: RepositoryObserver {
    /// Accepts the same arguments as the real observer.
    public init(
        logger: some Any = (),
        factory: some Any = (),
        tracer: some Any = (),
        labelSetLimit: Int = 2_000
    ) {}
}

/// An image observer for logs, metrics and traces. Available when the package trait `Observability` is enabled.
///
/// Without the trait, this placeholder makes the compiler name the trait to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait Observability of the package: .package(url: …, from: …, traits: [\"Observability\"])"
)
public struct TelemetryImageObserver: ImageObserver {
    /// Accepts the same arguments as the real observer.
    public init(
        logger: some Any = (),
        factory: some Any = (),
        tracer: some Any = (),
        labelSetLimit: Int = 2_000
    ) {}
}

/// A session observer for logs and metrics. Available when the package trait `Observability` is enabled.
///
/// Without the trait, this placeholder makes the compiler name the trait to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait Observability of the package: .package(url: …, from: …, traits: [\"Observability\"])"
)
public struct TelemetrySessionObserver: SessionObserver {
    /// Accepts the same arguments as the real observer.
    public init(logger: some Any = (), factory: some Any = ()) {}
}

extension AppObservers {
    /// Accepts the same arguments as the real function.
    @available(
        *,
        unavailable,
        message: "Enable the trait Observability of the package: .package(url: …, from: …, traits: [\"Observability\"])"
    )
    public static func telemetry(
        logger: some Any = (),
        factory: some Any = (),
        tracer: some Any = ()
    ) -> AppObservers { AppObservers() }
}

extension ErrorHandler {
    /// Accepts the same arguments as the real function.
    @available(
        *,
        unavailable,
        message: "Enable the trait Observability of the package: .package(url: …, from: …, traits: [\"Observability\"])"
    )
    public func logging(with logger: some Any) -> some ErrorHandler { IgnoringErrorHandler() }
}
#endif
