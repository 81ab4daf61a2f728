/// The rejection of a request by a limiter. The request was not sent.
struct LimitRejection: Error, Hashable {
    /// The cause of a rejection.
    enum Cause: Hashable {
        /// The limit was reached.
        case limit
        /// The task's deadline passed.
        case deadline
        /// The task was cancelled.
        case cancellation
    }

    let cause: Cause
    /// What happened, as the end of a sentence that begins with the request.
    let explanation: String
    /// The earliest time for a retry, if known.
    let retryAfter: Duration?

    init(_ cause: Cause, _ explanation: String, retryAfter: Duration? = nil) {
        self.cause = cause
        self.explanation = explanation
        self.retryAfter = retryAfter
    }
}

extension FetchError {
    /// Creates the error of a request that a limiter rejected.
    init(_ rejection: LimitRejection, of request: DataRequest) {
        let explanation = rejection.explanation
        switch rejection.cause {
        case .limit:
            let retryAfter = rejection.retryAfter.map { RetryAfter.delay($0) }
            self.init(.rejected, request: request, explanation: explanation, retryAfter: retryAfter)
        case .deadline:
            self.init(.timedOut, request: request, explanation: explanation, wasSent: false)
        case .cancellation:
            self.init(.cancelled, request: request, explanation: explanation, wasSent: false)
        }
    }
}
