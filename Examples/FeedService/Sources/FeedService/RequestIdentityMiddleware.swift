import HTTPTypes
import Hummingbird
import HummingbirdCore
import InwardCore

/// Assigns each request an identifier, for its response and its log records (see ``LogFormat``): that of the client or the proxy before
/// the service, or a new one.
struct RequestIdentityMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let id = request.headers[.requestID].flatMap { Self.isPlain($0) ? $0 : nil } ?? TraceContext.digits(2)
        var response = try await InteractionID.$current.withValue(InteractionID(id)) {
            try await next(request, context)
        }
        response.headers[.requestID] = id
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.referrerPolicy] = "same-origin"
        return response
    }

    /// Whether the text can stand in a log and in a URL as it is.
    private static func isPlain(_ id: String) -> Bool {
        (1...64).contains(id.utf8.count)
            && id.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}

extension HTTPField.Name {
    /// `X-Request-ID`, which names a request.
    // swift-format-ignore: NeverForceUnwrap
    // The text is a valid name.
    static let requestID = Self("X-Request-ID")!

    /// `Referrer-Policy`, which says what a browser tells other sites about the page that links to them.
    // swift-format-ignore: NeverForceUnwrap
    // The text is a valid name.
    static let referrerPolicy = Self("Referrer-Policy")!
}
