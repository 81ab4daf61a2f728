import CoreMetrics
import Hummingbird

/// Counts requests and measures how long they take, as Hummingbird's middleware does, and also those with the method `HEAD`.
///
/// Hummingbird counts a request when its body has been written, and answers `HEAD` by removing the body, so such a request would be in
/// flight forever.
struct RequestMetricsMiddleware<Context: RequestContext>: RouterMiddleware {
    private let others = MetricsMiddleware<Context>()
    private let factory: any MetricsFactory

    init(factory: any MetricsFactory = MetricsSystem.factory) { self.factory = factory }

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard request.method == .head else { return try await others.handle(request, context: context, next: next) }
        let start = ContinuousClock.now
        let response = try await next(request, context)
        let dimensions = [
            ("http.route", context.endpointPath ?? "Unknown"), ("http.request.method", "HEAD"),
            ("http.response.status_code", String(response.status.code)),
        ]
        Counter(label: "hb.requests", dimensions: dimensions, factory: factory).increment()
        let duration = start.duration(to: .now) / .nanoseconds(1)
        Timer(label: "http.server.request.duration", dimensions: dimensions, factory: factory)
            .recordNanoseconds(Int64(duration))
        return response
    }
}
