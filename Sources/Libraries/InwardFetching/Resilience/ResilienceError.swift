/// An error of a decorator of a ``ResilientOperation``: the operation was late, rejected or cancelled.
///
///     enum DatabaseError: Error {
///         case notFound
///         case unavailable(ResilienceError)
///     }
///
///     do throws(DatabaseError) {
///         return try await lookUp(7)
///     } catch .unavailable(let error) where error.reason == .rejected {
///         print(error)  // the look-up of a user was not sent: the circuit to database is open, because …
///     }
public struct ResilienceError: ProblemDetailsConvertible, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure. Future versions may add more.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        /// The calling task was cancelled while a decorator waited.
        public static let cancelled = Self("cancelled")
        /// A limit was reached or a circuit is open, and the operation was not started.
        public static let rejected = Self("rejected")
        /// The operation did not end in time.
        public static let timedOut = Self("timedOut")

        /// The name of the kind.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }
    }

    /// The kind of failure.
    public let reason: Reason
    /// The name of the operation.
    public let operation: String
    /// What happened, as the end of a sentence that begins with the operation: `did not end within 2.0 seconds`.
    public let explanation: String
    /// The time after which the operation may succeed, if it is known.
    public let retryAfter: Duration?
    /// Whether the operation may have been started, and so may have taken effect.
    public let wasStarted: Bool

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - reason: The kind of failure.
    ///   - operation: The name of the operation.
    ///   - explanation: What happened, as the end of a sentence that begins with the operation.
    ///   - retryAfter: The time after which the operation may succeed, if it is known.
    ///   - wasStarted: Whether the operation may have been started.
    public init(
        _ reason: Reason,
        operation: String,
        explanation: String,
        retryAfter: Duration? = nil,
        wasStarted: Bool = true
    ) {
        self.reason = reason
        self.operation = operation
        self.explanation = explanation
        self.retryAfter = retryAfter
        self.wasStarted = wasStarted
    }

    /// The response of a server: 503, with `Retry-After` if it is known.
    public var problemDetails: ProblemDetails { .unavailable(retryAfter: retryAfter) }

    /// The operation and what happened, as one sentence without its full stop.
    public var description: String { "\(operation) \(explanation)" }
}
