#if !ServiceLifecycle
public import InwardScopes

/// A service that shuts an app down gracefully when its service group shuts down. It requires the package trait
/// `ServiceLifecycle`.
///
/// This declaration exists only without the trait. If you use it, the compiler reports an error that names the trait.
@available(
    *,
    unavailable,
    message:
        "Enable the trait ServiceLifecycle of the package: .package(url: …, from: …, traits: [\"ServiceLifecycle\"])"
)
public struct AppScopeService: Sendable {
    /// Creates nothing. It has the parameters of the real initializer.
    public init(
        _ app: some Any,
        shuttingDownWithin limit: Duration = .seconds(20),
        reportingTo report: @escaping @Sendable (ShutdownReport) -> Void = { _ in }
    ) {}

    /// Always `false`.
    public var isReady: Bool { false }

    /// Does nothing.
    public func run() async {}
}
#endif
