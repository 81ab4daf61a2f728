#if Observability
import InterfaceAdapters
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
        var metadata = attributes.values.mapValues { Logger.MetadataValue.string($0.description) }
        metadata[AttributeName.errorMessage] = outcome?.errorMessage.map { .string($0) }
        return metadata
    }
}
#endif
