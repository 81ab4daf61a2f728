#if !Observability
public import InwardFetching

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
#endif
