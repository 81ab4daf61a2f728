#if !Observability
public import InwardFetching

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
#endif
