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
    /// Where requests have the token.
    enum Place {
        /// In `Authorization`. A token that is not valid is an error.
        case authorization
        /// In a cookie. A visitor whose token is not valid is a guest.
        case cookie
    }

    let signIns: SignIns
    let place: Place

    func handle(
        _ request: Request,
        context: FeedRequestContext,
        next: (Request, FeedRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.visitor = try await visitor(of: request)
        var response = try await next(request, context)
        response.headers.append(HTTPField(name: .vary, value: place == .cookie ? "Cookie" : "Authorization"))
        if context.visitor != .guest, let control = response.headers[.cacheControl] {
            response.headers[.cacheControl] = control.replacing("public", with: "private")
        }
        return response
    }

    private func visitor(of request: Request) async throws -> Visitor {
        switch place {
        case .cookie:
            guard let token = request.cookies[SignIns.cookieName]?.value else { return .guest }
            return try await signIns.visitor(with: token) ?? .guest
        case .authorization:
            guard let field = request.headers[.authorization] else { return .guest }
            guard field.lowercased().hasPrefix("bearer "),
                let visitor = try await signIns.visitor(with: field.dropFirst(7).trimmingCharacters(in: .whitespaces))
            else { throw SignInRequired() }
            return visitor
        }
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
