#if Observability
import InwardCore
import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What is known of a request and its outcome, as spans and log records say it. No credential is in it.
struct FetchAttributes: Hashable, Sendable {
    private(set) var values: [String: AttributeValue]

    init(_ values: [String: AttributeValue] = [:]) {
        self.values = values
    }

    init(_ request: DataRequest) {
        self.init([AttributeName.method: .text(request.knownMethod ?? DataRequest.otherMethod)])
        if request.knownMethod == nil { values[AttributeName.originalMethod] = .text(request.method.rawValue) }
        values[AttributeName.serverAddress] = request.serverAddress.map { .text($0) }
        values[AttributeName.serverPort] = request.serverPort.map { .integer($0) }
        values[AttributeName.url] = .text(request.fullURL)
        values[AttributeName.resendCount] = request.resendCount.map { .integer($0) }
    }

    init(_ outcome: Result<DataResponse, FetchError>) {
        self.init()
        values[AttributeName.status] = outcome.statusCode.map { .integer($0) }
        values[AttributeName.errorType] = outcome.errorType.map { .text($0) }
    }

    func merging(_ other: FetchAttributes) -> FetchAttributes {
        FetchAttributes(values.merging(other.values) { _, new in new })
    }
}

/// What an attribute says. Spans keep texts and numbers apart.
enum AttributeValue: Hashable, Sendable, CustomStringConvertible {
    /// A text in which nothing is hidden, see ``text(_:)``.
    case visible(String)
    case integer(Int)
    case seconds(Double)

    /// A text that may come from outside, with control characters and invisible ones written out.
    static func text(_ text: String) -> Self { .visible(text.visible) }

    init(_ duration: Duration) {
        self = .seconds(duration / .seconds(1))
    }

    var description: String {
        switch self {
        case .visible(let text): text
        case .integer(let number): "\(number)"
        case .seconds(let number): "\(number)"
        }
    }
}

/// What is said of a request is called as OpenTelemetry's semantic conventions call it, and `inward.` stands before what they
/// have no name for.
enum AttributeName {
    static let method = "http.request.method"
    static let originalMethod = "http.request.method_original"
    static let resendCount = "http.request.resend_count"
    static let status = "http.response.status_code"
    static let serverAddress = "server.address"
    static let serverPort = "server.port"
    static let url = "url.full"
    static let errorType = "error.type"
    static let errorMessage = "exception.message"
    static let attemptDuration = "http.client.request.duration"
    static let requestDuration = "inward.client.request.duration"
    static let retryDelay = "inward.retry.delay"
    static let circuit = "inward.circuit.name"
    static let circuitState = "inward.circuit.state"
    static let circuitStateBefore = "inward.circuit.state_before"
}

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

/// What OpenTelemetry's semantic conventions for clients of HTTP ask of an outcome.
extension Result<DataResponse, FetchError> {
    /// The status of the answer, if one came.
    var statusCode: Int? {
        switch self {
        case .success(let response): response.status.code
        case .failure(let error): error.status?.code
        }
    }

    /// What kind of failure this is: the status, if it is one of failure, or the error's reason; `nil` for none.
    var errorType: String? {
        switch self {
        case .success(let response): response.status.code >= 400 ? "\(response.status.code)" : nil
        case .failure(let error): error.status.map { "\($0.code)" } ?? error.reason.description
        }
    }

    /// What happened, if the status does not say it.
    var errorMessage: String? {
        guard case .failure(let error) = self else { return nil }
        return error.explanation
    }
}
#endif
