#if Observability
import InwardFetching

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
#endif
