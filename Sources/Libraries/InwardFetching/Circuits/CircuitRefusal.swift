/// That a circuit lets a request not through.
struct CircuitRefusal: Error, Hashable {
    /// The end of a sentence that begins with the request.
    let explanation: String
    /// When it can help to ask again, if that is known.
    let retryAfter: RetryAfter?
}
