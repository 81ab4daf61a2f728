#if Observability
import InwardFetching

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
