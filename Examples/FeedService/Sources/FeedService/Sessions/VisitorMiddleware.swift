import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import InwardFetching

/// What is known about a request on its way to a route.
struct FeedRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The sender of the request.
    var visitor = Visitor.guest

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
    }
}

/// Identifies the sender of a request, and keeps caches from showing one visitor's answers to another.
struct VisitorMiddleware: RouterMiddleware {
    let signIns: SignIns

    func handle(
        _ request: Request,
        context: FeedRequestContext,
        next: (Request, FeedRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        if let field = request.headers[.authorization] {
            guard field.lowercased().hasPrefix("bearer "),
                let visitor = try await signIns.visitor(with: field.dropFirst(7).trimmingCharacters(in: .whitespaces))
            else { throw SignInRequired() }
            context.visitor = visitor
        }
        var response = try await next(request, context)
        response.headers.append(HTTPField(name: .vary, value: "Authorization"))
        if context.visitor != .guest, let control = response.headers[.cacheControl] {
            response.headers[.cacheControl] = control.replacing("public", with: "private")
        }
        return response
    }
}

/// The error of a request with a token that is not valid, or without one that it needs.
struct SignInRequired: ProblemDetailsConvertible {
    var problemDetails: ProblemDetails {
        ProblemDetails(
            401,
            detail: "The token is missing, has expired, or is not valid. Sign in, and send the new token."
        )
    }
}
