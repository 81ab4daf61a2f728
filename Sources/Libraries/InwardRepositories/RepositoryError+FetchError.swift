import InwardCore
import InwardFetching

extension RepositoryError {
    /// Translates what kept a request from being answered, which a write may have been done in spite of.
    init(_ error: FetchError, mayHaveWritten: Bool) {
        let reason = mayHaveWritten && error.leavesOutcomeUnknown ? .outcomeUnknown : Reason(error)
        let delay: Duration? = if case .delay(let delay) = error.retryAfter { delay } else { nil }
        self.init(
            reason,
            request: error.request,
            explanation: error.explanation,
            canRetry: error.canRetry && reason != .outcomeUnknown,
            retryAfter: delay
        )
    }

    /// The error that an answer is which cannot be understood.
    init(unreadable error: FieldError, of request: DataRequest) {
        self.init(
            .unreadable,
            request: request.description,
            explanation: "was answered with what cannot be used: \(error)"
        )
    }

}

extension RepositoryError.Reason {
    fileprivate init(_ error: FetchError) {
        self =
            switch error.reason.code {
            case .cancelled: .cancelled
            case .closed: .closed
            case .rejected, .unreachable, .untrusted, .timedOut, .interrupted, .tooManyRedirects: .unavailable
            case .invalidRequest: .refused
            case .tooLarge, .unreadable: .unreadable
            case .unsuccessful: error.status.map(Self.init) ?? .unavailable
            }
    }

    private init(_ status: DataResponse.Status) {
        self =
            switch status.code {
            case 401, 403, 407, 511: .denied
            case 404, 410: .notFound
            case 408, 421, 423, 425, 429: .unavailable
            case 400..<500: .refused
            default: .unavailable
            }
    }
}
