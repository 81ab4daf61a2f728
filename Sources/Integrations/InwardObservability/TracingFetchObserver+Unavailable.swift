#if !Observability
public import InwardFetching

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
