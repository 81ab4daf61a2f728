import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import InwardCore
import InwardFetching
import InwardRepositories
import InwardScopes
import Logging
import NIOCore

/// The server for operators, with metrics and the outbox. It listens on the loopback interface only, because it has no sign-in.
///
/// ```swift
/// let operators = OperatorServer(app, settings, PrometheusMetrics())
/// try await FeedServer(app, settings).run(for: operators, logger: logger)
/// ```
public struct OperatorServer: Sendable {
    private let app: FeedApp
    private let settings: ServiceSettings
    private let metrics: PrometheusMetrics
    private let outboxGauges: OutboxGauges

    /// Creates a server for the operators of an app.
    public init(_ app: FeedApp, _ settings: ServiceSettings, _ metrics: PrometheusMetrics) {
        self.app = app
        self.settings = settings
        self.metrics = metrics
        outboxGauges = OutboxGauges(metrics)
    }

    var router: Router<BasicRequestContext> {
        let router = Router(context: BasicRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: RequestIdentityMiddleware())
        router.add(middleware: ProblemMiddleware())
        router.add(middleware: LocalRequestMiddleware())
        router.get("metrics") { _, _ in
            await measureOutboxes()
            return Response(
                status: .ok,
                headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text))
            )
        }
        router.get("/") { _, _ in Response(status: .found, headers: [.location: "/outbox"]) }
        router.get("outbox") { request, _ in
            Answer(OutboxPage(try await app.scope.outboxes(), at: Date()).page)
                .response(to: request, cacheControl: "no-store")
        }
        router.post("outbox/retry") { request, _ in
            try await change(request) { try await app.scope.retryWrite($0, in: $1) }
        }
        router.post("outbox/discard") { request, _ in
            try await change(request) { try await app.scope.discardWrite($0, in: $1) }
        }
        router.get("style.css") { request, _ in
            FeedPages.styleSheet.response(to: request, cacheControl: Answer.fileCacheControl)
        }
        router.refuseOtherMethods()
        return router
    }

    /// Sets the gauges of the outboxes.
    private func measureOutboxes() async {
        // Prometheus waits 10 seconds. The other metrics are most useful when the store hangs.
        let outboxes = await Deadline(in: .seconds(5), on: app.timer).bound { [app] in
            try await app.scope.outboxes()
        }
        outboxGauges.show(try? outboxes?.get(), at: Date())
    }

    private func change(
        _ request: Request,
        _ change: (String, UserOutbox) async throws -> Bool
    ) async throws -> Response {
        let content = try await RequestContent(form: request, by: app.deadline)
        let id = try content.form().text("write")
        let outbox = try await app.scope.outboxes().first { $0.items.contains { $0.id == id } }
        guard let outbox, try await change(id, outbox) else {
            throw ProblemDetails(
                .notFound,
                detail: "The write is no longer in an outbox. It was delivered, retried or discarded."
            )
        }
        return Response.seeOther("/outbox")
    }

    /// Returns the application, which listens when it runs.
    func application(
        logger: Logger,
        whenListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) -> Application<RouterResponder<BasicRequestContext>> {
        Application(
            responder: router.buildResponder(),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: settings.operatorPort)),
            onServerRunning: { channel in if let port = channel.localAddress?.port { whenListening(port) } },
            logger: logger
        )
    }
}

/// Refuses requests that a page of another site has made a browser send.
///
/// Such a page cannot name another host than its own in `Host`, nor omit its own origin from a form.
struct LocalRequestMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard Self.isLocal(request.head.authority ?? "", origin: request.headers[.origin])
        else { throw ProblemDetails(403, detail: "Open this address directly, on the machine of the service.") }
        return try await next(request, context)
    }

    /// Returns whether the request is for this machine, and not sent by a page of another site.
    static func isLocal(_ authority: String, origin: String?) -> Bool {
        guard let address = URLComponents(string: "http://\(authority)"), address.user == nil, address.path.isEmpty,
            let host = address.host?.lowercased()
        else { return false }
        return ["127.0.0.1", "localhost", "[::1]"].contains(host)
            && (origin ?? "http://\(authority)") == "http://\(authority)"
    }
}

extension UserOutbox {
    /// The pending writes and the dead letters.
    var items: [OutboxItem] { contents.pending + contents.deadLetters }
    /// The name in messages.
    var title: String { isGuest ? "Guest “\(user)”" : "User “\(user)”" }
}
