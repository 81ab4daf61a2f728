import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import InwardCore
import InwardRepositories
import InwardScopes
public import Logging
import NIOCore
import ServiceLifecycle
import UnixSignals

/// The server: its routes, its limits, and how it starts and ends.
///
/// ```swift
/// let app = try await FeedApp(settings)
/// let operators = OperatorServer(app, settings, PrometheusMetrics())
/// try await FeedServer(app, settings).run(for: operators, logger: logger)
/// ```
public struct FeedServer: Sendable {
    private let app: FeedApp
    private let settings: ServiceSettings

    /// Creates a server.
    public init(_ app: FeedApp, _ settings: ServiceSettings) {
        self.app = app
        self.settings = settings
    }

    /// The routes and the middleware. Paths refuse the methods that they do not have.
    var router: Router<FeedRequestContext> {
        let router = servingRouter
        router.refuseOtherMethods()
        return router
    }

    /// The routes that answer with more than a refusal.
    var servingRouter: Router<FeedRequestContext> {
        let router = Router(context: FeedRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: RequestIdentityMiddleware())
        // Without a tracer, it would only cost time.
        if settings.traceShare > 0 { router.add(middleware: TracingMiddleware()) }
        router.add(middleware: RequestMetricsMiddleware())
        router.add(middleware: ProblemMiddleware())
        // Probes are answered under load as well.
        let routes = router.group().add(middleware: OverloadMiddleware(limit: settings.concurrentRequests))
        let answers = AnswerCache(maximumAge: settings.maximumAge, reuse: settings.reuseFor, timer: app.timer)
        let api = routes.group("api")
            .add(middleware: ChangeMiddleware(answers: answers))
            .add(middleware: VisitorMiddleware(signIns: app.signIns, place: .authorization))
            .add(middleware: QuotaMiddleware(quotas: app.quotas))
        FeedAPI(app: app, settings: settings, answers: answers).addRoutes(to: api)
        let pages = routes.group()
            .add(middleware: ChangeMiddleware(answers: answers))
            .add(middleware: VisitorMiddleware(signIns: app.signIns, place: .cookie))
            .add(middleware: QuotaMiddleware(quotas: app.quotas))
        FeedPages(app, settings, answers).addRoutes(to: pages)
        FeedPages.addFiles(to: routes)
        app.images.addRoutes(to: routes)
        router.get("healthz") { _, _ in Self.probe(.ok, "The process is running.") }
        router.get("readyz") { [app] _, _ in
            app.isReady ? Self.probe(.ok, "Ready.") : Self.probe(.serviceUnavailable, "Shutting down.")
        }
        return router
    }

    /// Returns the application, which listens when it runs. When it is told to shut down, it stops accepting connections, and answers
    /// the requests in flight.
    ///
    /// - Parameters:
    ///   - logger: The log of the server.
    ///   - whenListening: Called with the port.
    /// - Returns: The application.
    func application(
        logger: Logger,
        whenListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) -> Application<RouterResponder<FeedRequestContext>> {
        Application(
            responder: router.buildResponder(),
            server: .http1(
                configuration: HTTP1Channel.Configuration(
                    additionalChannelHandlers: [RequestHeadTimeout(settings.idleTimeout + settings.timeLimit)],
                    idleTimeout: TimeAmount(settings.idleTimeout),
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: 8_192,
                        maxHeaderListSize: 32_768,
                        maxHeaderFieldCount: 100
                    )
                )
            ),
            configuration: ApplicationConfiguration(
                address: .hostname(settings.host, port: settings.port),
                availableConnectionsDelegate: MaximumAvailableConnections(settings.connections)
            ),
            onServerRunning: { channel in if let port = channel.localAddress?.port { whenListening(port) } },
            logger: logger
        )
    }

    /// Answers requests until the process is told to end by SIGTERM or SIGINT.
    ///
    /// - Parameters:
    ///   - operators: The server for operators, which ends after this one.
    ///   - logger: The log of the server.
    ///   - whenListening: Called with the port.
    /// - Throws: A `RecordStoreError` if the directory of the store cannot be used; a ``SettingError`` if a server cannot listen at its
    ///   address; an error if a server did not end within the limit.
    public func run(
        for operators: OperatorServer,
        logger: Logger,
        whenListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws {
        var configuration = ServiceGroupConfiguration(
            services: [
                ListeningServer(
                    operators.application(logger: logger),
                    host: "127.0.0.1",
                    port: settings.operatorPort,
                    setting: "operatorPort"
                ),
                ListeningServer(
                    application(logger: logger, whenListening: whenListening),
                    host: settings.host,
                    port: settings.port,
                    setting: "port"
                ),
            ],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        // A client that does not read its answer, or does not send its request, could keep the server from ending.
        configuration.maximumGracefulShutdownDuration = settings.timeLimit + .seconds(5)
        configuration.maximumCancellationDuration = .seconds(5)
        try await run(ServiceGroup(configuration: configuration), logger: logger)
    }

    /// Runs the servers if the store can be used, and then closes the app.
    func run(_ servers: ServiceGroup, logger: Logger) async throws {
        let failure: (any Error)?
        do {
            try await checkStore(logger)
            try await servers.run()
            failure = nil
        } catch {
            failure = error
        }
        // After the servers, and not as one of their services, so that such a client does not take the time of the app.
        let report = await app.scope.shutDown(within: settings.drainLimit)
        logger.info("\(report)")
        if let failure { throw failure }
    }

    /// Throws if the directory of the store cannot be used. A database may come back, so its failure is only logged.
    private func checkStore(_ logger: Logger) async throws(RecordStoreError) {
        do throws(RecordStoreError) {
            try await app.checkStore()
        } catch {
            guard case .postgreSQL? = settings.store else { throw error }
            logger.error("The store cannot be used yet. Until it can, changes are refused. \(error)")
        }
    }

    private static func probe(_ status: HTTPResponse.Status, _ text: String) -> Response {
        Response(
            status: status,
            headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text + "\n"))
        )
    }
}

extension Router {
    /// Answers requests whose path exists, but not with their method, with 405 and the methods that it has.
    func refuseOtherMethods() {
        let methods: [HTTPRequest.Method] =
            [.get, .head, .post, .put, .patch, .delete, .options, .trace]
            + [HTTPRequest.Method("QUERY")].compactMap(\.self)
        for (path, routes) in Dictionary(grouping: routes, by: \.path.description) {
            var allowed = Set(routes.map(\.method))
            if allowed.contains(.get) { allowed.insert(.head) }
            let field = methods.filter(allowed.contains).map(\.rawValue).joined(separator: ", ")
            for method in methods where !allowed.contains(method) {
                on(RouterPath(path), method: method) { _, _ -> Response in
                    throw HTTPError(.methodNotAllowed, headers: [.allow: field])
                }
            }
        }
    }
}
