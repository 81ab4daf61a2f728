#if !ServiceLifecycle
public import InwardScopes

/// An app as a service of a group. Available when the package trait `ServiceLifecycle` is enabled.
///
/// Without the trait, this placeholder lets the compiler name the trait to enable.
@available(
    *,
    unavailable,
    message:
        "Enable the trait ServiceLifecycle of the package: .package(url: …, from: …, traits: [\"ServiceLifecycle\"])"
)
public struct AppScopeService: Sendable {
    /// Accepts the same arguments as the real service.
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
