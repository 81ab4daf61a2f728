#if Observability
import InwardFetching
import Logging

extension Logger.Metadata {
    /// What a record says of a request, of what came of it, and besides.
    static func of(
        _ request: DataRequest,
        _ outcome: Result<DataResponse, FetchError>? = nil,
        _ others: [String: AttributeValue] = [:]
    ) -> Self {
        var attributes = FetchAttributes(request).merging(FetchAttributes(others))
        if let outcome {
            attributes = attributes.merging(FetchAttributes(outcome))
        }
        if let message = outcome?.errorMessage {
            attributes = attributes.merging(FetchAttributes([AttributeName.errorMessage: .text(message)]))
        }
        return attributes.values.mapValues { .string($0.description) }
    }
}
#endif
