#if !Observability
public import InwardFetching

/// Tells what happens to requests by logs, metrics and traces alike, where the trait `Observability` of the package is enabled.
///
/// Without the trait this stands in its place, so that whoever uses it is told by the compiler what to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait Observability of the package: .package(url: …, from: …, traits: [\"Observability\"])"
)
public struct TelemetryFetchObserver: FetchObserver {
    /// Observes nothing.
    public init() {}

    /// Takes what the observer takes where there is one.
    public init(logging: LoggingFetchObserver, metering: MeteringFetchObserver, tracing: TracingFetchObserver) {}

    /// Takes what the observer takes where there is one.
    public init(logger: some Any, factory: some Any, tracer: some Any) {}
}

/// Writes what happens to requests as log records of swift-log, where the trait `Observability` of the package is enabled.
///
/// Without the trait this stands in its place, so that whoever uses it is told by the compiler what to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait Observability of the package: .package(url: …, from: …, traits: [\"Observability\"])"
)
public struct LoggingFetchObserver: FetchObserver {
    /// Observes nothing.
    public init() {}

    /// Takes what the observer takes where there is one.
    public init(logger: some Any) {}
}

/// Counts and times what happens to requests by instruments of swift-metrics, where the trait `Observability` of the package is enabled.
///
/// Without the trait this stands in its place, so that whoever uses it is told by the compiler what to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait Observability of the package: .package(url: …, from: …, traits: [\"Observability\"])"
)
public struct MeteringFetchObserver: FetchObserver {
    /// Observes nothing.
    public init() {}

    /// Takes what the observer takes where there is one.
    public init(factory: some Any, labelSetLimit: Int = 2_000) {}
}

/// Makes a span of swift-distributed-tracing of every attempt, where the trait `Observability` of the package is enabled.
///
/// Without the trait this stands in its place, so that whoever uses it is told by the compiler what to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait Observability of the package: .package(url: …, from: …, traits: [\"Observability\"])"
)
public struct TracingFetchObserver: FetchObserver {
    /// Observes nothing.
    public init() {}

    /// Takes what the observer takes where there is one.
    public init(tracer: some Any) {}
}
#endif
