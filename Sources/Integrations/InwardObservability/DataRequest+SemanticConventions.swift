#if Observability
import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What OpenTelemetry's semantic conventions for clients of HTTP ask of a request.
extension DataRequest {
    /// What stands for a method that is not a known one, so that nobody can make up labels without an end.
    static let otherMethod = "_OTHER"

    /// The methods of RFC 9110 section 9.1 and of RFC 5789.
    private static let knownMethods: Set<String> = [
        "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE",
    ]

    /// The method, if it is a known one.
    var knownMethod: String? { Self.knownMethods.contains(method.rawValue) ? method.rawValue : nil }

    /// What the span of an attempt is called.
    var spanName: String { knownMethod ?? "HTTP" }

    /// The host that is asked.
    var serverAddress: String? { url.host(percentEncoded: false) }

    /// The port that is asked at, also where the scheme alone says it.
    var serverPort: Int? { url.port ?? ["http": 80, "https": 443][url.scheme?.lowercased() ?? ""] }

    /// The address as the request's own description shows it: without user name, password, fragment and the values of the query.
    var fullURL: String { String(description.dropFirst(method.rawValue.count + 1)) }

    /// How often it was sent before; `nil` for the first time.
    var resendCount: Int? { attempt > 1 ? attempt - 1 : nil }
}
#endif
