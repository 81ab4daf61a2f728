#if Observability

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
#endif
