#if Observability
import InwardCore
import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The attributes of spans and log records, such as those of a request and its outcome. They contain no credentials.
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

    /// The identifier of the current interaction, or no attributes outside an interaction.
    static var interaction: FetchAttributes {
        FetchAttributes(
            InteractionID.current.map { [AttributeName.interaction: .text($0.description)] } ?? [:]
        )
    }

    func merging(_ other: FetchAttributes) -> FetchAttributes {
        FetchAttributes(values.merging(other.values) { _, new in new })
    }
}

/// The value of an attribute. Spans distinguish strings from integers.
enum AttributeValue: Hashable, Sendable, CustomStringConvertible {
    /// A string in which hidden characters are already escaped. Create it with ``text(_:)``.
    case visible(String)
    case integer(Int)
    case seconds(Double)

    /// Returns an untrusted string with control and invisible characters escaped.
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

/// Attribute names from OpenTelemetry's semantic conventions. Names that the conventions do not define begin with `inward.`.
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
    static let interaction = "inward.interaction.id"
    static let exceptionType = "exception.type"
    static let operation = "inward.operation.name"
    static let operationEvent = "inward.operation.event"
    static let operationDuration = "inward.operation.duration"
    static let operationAttemptDuration = "inward.operation.attempt.duration"
    static let endpoint = "inward.repository.endpoint"
    static let readKind = "inward.repository.read.kind"
    static let readPolicy = "inward.repository.read.policy"
    static let readResult = "inward.repository.read.result"
    static let readOrigin = "inward.repository.read.origin"
    static let readAge = "inward.repository.read.age"
    static let readDuration = "inward.repository.read.duration"
    static let storeSystem = "db.system.name"
    static let storeOperation = "db.operation.name"
    static let storeDuration = "db.client.operation.duration"
    static let messagingSystem = "messaging.system"
    static let messagingDestination = "messaging.destination.name"
    static let deliveryDuration = "messaging.process.duration"
    static let deliveryResult = "inward.outbox.delivery.result"
    static let deliveryAttempts = "inward.outbox.delivery.failed_attempts"
    static let imageDuration = "inward.image.load.duration"
    static let stage = "inward.image.stage"
    static let stageOrigin = "inward.image.stage.origin"
    static let stageDuration = "inward.image.stage.duration"
    static let stageBytes = "inward.image.stage.bytes"
    static let stages = "inward.image.stages"
    static let imageWidth = "inward.image.width"
    static let imageHeight = "inward.image.height"
    static let budgetPart = "inward.image.budget.part"
    static let sessionDuration = "inward.session.duration"
    static let sessionOpeningDuration = "inward.session.opening.duration"
}

/// The request attributes of OpenTelemetry's semantic conventions for HTTP clients.
extension DataRequest {
    /// The placeholder for unknown methods, which keeps the number of labels bounded.
    static let otherMethod = "_OTHER"

    /// The methods of RFC 9110 section 9.1 and of RFC 5789.
    private static let knownMethods: Set<String> = [
        "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE",
    ]

    /// The method, or `nil` if it is not a known one.
    var knownMethod: String? { Self.knownMethods.contains(method.rawValue) ? method.rawValue : nil }

    /// The name of an attempt's span.
    var spanName: String { knownMethod ?? "HTTP" }

    /// The host of the server.
    var serverAddress: String? { url.host(percentEncoded: false) }

    /// The port of the server, including the default port of the scheme.
    var serverPort: Int? { url.port ?? ["http": 80, "https": 443][url.scheme?.lowercased() ?? ""] }

    /// The URL as in the request's description: without user name, password, fragment and query values.
    var fullURL: String { String(description.dropFirst(method.rawValue.count + 1)) }

    /// The number of earlier attempts, or `nil` on the first attempt.
    var resendCount: Int? { attempt > 1 ? attempt - 1 : nil }
}

/// The outcome attributes of OpenTelemetry's semantic conventions for HTTP clients.
extension Result<DataResponse, FetchError> {
    /// The response status, or `nil` if no response arrived.
    var statusCode: Int? {
        switch self {
        case .success(let response): response.status.code
        case .failure(let error): error.status?.code
        }
    }

    /// The kind of failure, which is an error status or the error's reason, or `nil` on success.
    var errorType: String? {
        switch self {
        case .success(let response): response.status.code >= 400 ? "\(response.status.code)" : nil
        case .failure(let error): error.status.map { "\($0.code)" } ?? error.reason.description
        }
    }

    /// The explanation of the error, or `nil` if the outcome is a response, whose status already describes a failure.
    var errorMessage: String? {
        guard case .failure(let error) = self else { return nil }
        return error.explanation
    }
}
#endif
