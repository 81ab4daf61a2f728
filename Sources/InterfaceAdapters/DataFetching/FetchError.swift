/// Why a ``DataFetcher`` has no whole answer, or why an answer is of no use.
///
/// The credentials of the request do not show in it: its maker's words are searched for them.
public struct FetchError: Error, Hashable, Sendable {
    /// What kind of failure this is.
    public let reason: Reason
    /// The request as its description shows it: the method, and the address without what may be secret.
    public let request: String
    /// What happened, as the end of a sentence that begins with the request: `was answered with 503`.
    public let explanation: String
    /// The status of the answer, where one came.
    public let status: DataResponse.Status?
    /// When the source said to ask again, if it did.
    public let retryAfter: RetryAfter?

    /// Makes an error about a request.
    ///
    /// - Parameters:
    ///   - reason: What kind of failure this is.
    ///   - request: What was asked.
    ///   - explanation: What happened, as the end of a sentence that begins with the request. Credentials of the request
    ///     that appear in it are taken out.
    public init(_ reason: Reason, request: DataRequest, explanation: String) {
        self.init(reason, request: request, explanation: explanation, status: nil, retryAfter: nil)
    }

    /// Makes the error that an unsuccessful answer to a request is.
    public init(_ response: DataResponse, to request: DataRequest) {
        self.init(
            .unsuccessful,
            request: request,
            explanation: "was answered with \(response.status)",
            status: response.status,
            retryAfter: RetryAfter(response.headerFields)
        )
    }

    private init(
        _ reason: Reason,
        request: DataRequest,
        explanation: String,
        status: DataResponse.Status?,
        retryAfter: RetryAfter?
    ) {
        self.reason = reason
        self.request = request.description
        self.explanation = request.removingSecrets(from: explanation)
        self.status = status
        self.retryAfter = retryAfter
    }

    /// Whether asking again, with nothing changed, can help. Whether it is safe depends on the request.
    public var canRetry: Bool {
        switch reason.code {
        case .unreachable, .timedOut, .interrupted: true
        case .unsuccessful: status.map { [408, 425, 429, 500, 502, 503, 504].contains($0.code) } ?? false
        case .cancelled, .closed, .invalidRequest, .untrusted, .tooLarge, .tooManyRedirects, .unreadable: false
        }
    }
}

extension FetchError: CustomStringConvertible {
    /// The request and what happened, as one sentence without its full stop.
    public var description: String { "\(request) \(explanation)" }
}
