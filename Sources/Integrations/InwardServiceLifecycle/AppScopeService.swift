#if ServiceLifecycle
public import InwardScopes
public import ServiceLifecycle

/// A service that shuts an app down gracefully when its service group shuts down.
///
/// ```swift
/// func run(_ app: AppScope<Void>, _ server: some Service, logger: Logger) async throws {
///     let service = AppScopeService(app) { report in logger.info("\(report)") }
///     let group = ServiceGroup(
///         services: [service, server],
///         gracefulShutdownSignals: [.sigterm],
///         logger: logger
///     )
///     try await group.run()
/// }
/// ```
///
/// A group shuts its services down in reverse order. Put the app before the server that uses it, so that the server answers its
/// last requests before the app shuts down.
public struct AppScopeService: Service {
    private let limit: Duration
    private let accepts: @Sendable () -> Bool
    private let shutDown: @Sendable (Duration) async -> ShutdownReport
    private let report: @Sendable (ShutdownReport) -> Void

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - app: The app to shut down.
    ///   - limit: The maximum time to wait for work in flight and pending writes. Choose one well below the grace period after
    ///     which the platform kills the process, because closing takes time too.
    ///   - report: Receives the report of what was left when the app shut down, for example to log it.
    public init(
        _ app: AppScope<some Sendable>,
        shuttingDownWithin limit: Duration = .seconds(20),
        reportingTo report: @escaping @Sendable (ShutdownReport) -> Void = { _ in }
    ) {
        self.limit = limit
        self.report = report
        accepts = { app.isAcceptingWork }
        shutDown = { limit in await app.shutDown(within: limit) }
    }

    /// Whether the app accepts work. Use it for a readiness probe.
    ///
    /// ```swift
    /// func readiness(of service: AppScopeService) -> String {
    ///     service.isReady ? "200 OK" : "503 Service Unavailable"
    /// }
    /// ```
    public var isReady: Bool { accepts() }

    /// Waits until the group shuts down gracefully, and then shuts the app down.
    ///
    /// If the group cancels the service, before or during the shutdown, the app closes without waiting any longer.
    public func run() async {
        // The only possible error is a cancellation, and in a cancelled task the shutdown does not wait.
        try? await gracefulShutdown()
        report(await shutDown(limit))
    }
}
#endif
