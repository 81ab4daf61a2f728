#if ServiceLifecycle
public import InwardScopes
public import ServiceLifecycle

/// An app as a service of a group, which is shut down gracefully with it.
///
///     let app = await AppScope("comments", configuration)
///     let service = AppScopeService(app) { report in logger.info("\(report)") }
///     let group = ServiceGroup(
///         services: [service, server],
///         gracefulShutdownSignals: [.sigterm],
///         logger: logger
///     )
///     try await group.run()
///
/// A group shuts its services down in reverse order. Put the app before the server that uses it, so that the server has answered its
/// requests by the time the app shuts down.
public struct AppScopeService: Service {
    private let limit: Duration
    private let accepts: @Sendable () -> Bool
    private let shutDown: @Sendable (Duration) async -> ShutdownReport
    private let report: @Sendable (ShutdownReport) -> Void

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - app: The app, which the service shuts down.
    ///   - limit: How long to wait at most for work in flight and pending writes. Choose less than the time after which the platform
    ///     ends the process, because closing takes time too.
    ///   - report: Receives what was left when the app was shut down, for example to log it.
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
    public var isReady: Bool { accepts() }

    /// Waits until the group shuts down gracefully, and then shuts the app down.
    ///
    /// If the group cancels the service instead, before or during the shutdown, the app is closed without waiting.
    public func run() async {
        // The only error is a cancellation, in which case shutting down does not wait.
        try? await gracefulShutdown()
        report(await shutDown(limit))
    }
}
#endif
