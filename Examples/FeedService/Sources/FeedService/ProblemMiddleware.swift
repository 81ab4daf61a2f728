import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import InwardCore
import InwardFetching
import InwardObservability
import Logging
import NIOCore

/// Answers every error with problem details (RFC 9457), and logs those for which the client is not responsible.
struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            let problem = ProblemDetails(reporting: error, to: context.logger)
            var response = try Self.response(problem, asPage: Self.wantsPage(request))
            if problem.status == 401 { response.headers[.wwwAuthenticate] = "Bearer" }
            if let error = error as? HTTPError { response.headers.append(contentsOf: error.headers) }
            return request.method == .head ? response.createHeadResponse() : response
        }
    }

    /// Whether the request comes from a browser that shows a page, rather than from a client of the API.
    private static func wantsPage(_ request: Request) -> Bool {
        !request.uri.path.hasPrefix("/api/") && request.headers[.accept]?.contains("text/html") == true
    }

    private static func response(_ problem: ProblemDetails, asPage isPage: Bool) throws -> Response {
        var fields: HTTPFields = [:]
        for field in problem.headerFields {
            if let name = HTTPField.Name(field.name.description) { fields[name] = field.value }
        }
        fields[.cacheControl] = "no-store"
        let bytes: ByteBuffer
        if isPage {
            fields[.contentType] = "text/html; charset=utf-8"
            fields[.contentSecurityPolicy] = Page.policy
            bytes = ByteBuffer(string: Page(problem).document.markup)
        } else {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            bytes = ByteBuffer(bytes: try encoder.encode(problem))
        }
        return Response(
            status: HTTPResponse.Status(code: problem.status.code),
            headers: fields,
            body: ResponseBody(byteBuffer: bytes)
        )
    }
}

extension ProblemDetails {
    /// Creates the problem of an error, and logs the error if the client is not responsible for it.
    init(reporting error: any Error, to logger: Logger) {
        self = (error as? any HTTPResponseError).map(Self.problem) ?? ProblemDetails(error)
        // The cause does not always say how long it lasts.
        if status == 503, retryAfter == nil { retryAfter = .seconds(5) }
        // A log record for each request that is refused would be more work than the request.
        if status.code >= 500, !(error is Overload) { IgnoringErrorHandler().logging(with: logger).handle(error) }
    }

    /// Returns the problem for an error of the server's own, such as a path that does not exist.
    private static func problem(_ error: any HTTPResponseError) -> ProblemDetails {
        let detail =
            switch error.status {
            case .notFound: "Nothing is at this address."
            case .methodNotAllowed: "This address does not support the method. See the field Allow."
            case .contentTooLarge: "The body of the request is too large."
            case .badRequest: "The request cannot be read."
            default: "The server could not answer the request."
            }
        return ProblemDetails(DataResponse.Status(error.status.code), detail: detail)
    }
}

extension Response {
    /// Returns the response, a page that explains a problem, with the status of the problem.
    func explained(by problem: ProblemDetails) -> Response {
        var response = self
        response.status = HTTPResponse.Status(code: problem.status.code)
        for field in problem.headerFields where field.name == .retryAfter {
            response.headers[.retryAfter] = field.value
        }
        return response
    }
}
