/// An asynchronous operation, such as a database query or a remote call, with the same decorators as data fetchers.
///
/// An operation begins as a closure with any error type. Each decorator returns it with one more behavior; write the innermost
/// decorator first. When a decorator itself fails, it creates a ``ResilienceError``, which `failure` turns into your error
/// type. Here, `failure` is an enum case:
///
/// ```swift
/// enum DatabaseError: Error {
///     case busy, notFound
///     case unavailable(ResilienceError)
/// }
///
/// let findUser = ResilientOperation("the user query", failure: DatabaseError.unavailable) {
///     (id: Int) async throws(DatabaseError) -> String in
///     guard id > 0 else { throw .notFound }
///     return "user \(id)"
/// }
/// .timingOut(after: .seconds(2))
/// .breakingCircuit(CircuitBreaker("database")) { error in if case .busy = error { true } else { false } }
/// .retrying(.standard) { error in if case .notFound = error { .never } else { .again } }
///
/// let user = try await findUser(7)
/// ```
///
/// Create the operation once and share it, because its decorators learn from all calls. See <doc:ResilientOperations>.
public struct ResilientOperation<Input: Sendable, Output: Sendable, Failure: Error>: Sendable {
    /// The error of an attempt: of the operation, or of a decorator.
    typealias AttemptError = AttemptFailure<Failure>
    /// The work inside a decorator.
    typealias Attempt = @Sendable (Input, CallObservers) async throws(AttemptError) -> Output

    /// The name of the operation. Descriptions of a ``ResilienceError`` begin with it.
    public let name: String
    let attempt: Attempt
    private let failure: @Sendable (ResilienceError) -> Failure

    private init(
        _ name: String,
        failure: @escaping @Sendable (ResilienceError) -> Failure,
        attempt: @escaping Attempt
    ) {
        self.name = name
        self.failure = failure
        self.attempt = attempt
    }

    /// Creates an operation without decorators.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, as the beginning of a sentence. It must not contain credentials.
    ///   - failure: Returns the operation's error for an error of a decorator.
    ///   - operation: Performs the operation. It should end early when its task is cancelled, because decorators cancel work
    ///     that nobody waits for any longer, and await its end.
    public init(
        _ name: String = "the operation",
        failure: @escaping @Sendable (ResilienceError) -> Failure,
        operation: @escaping @Sendable (Input) async throws(Failure) -> Output
    ) {
        self.init(name, failure: failure) { input, observers async throws(AttemptError) in
            let start = observers.now
            do throws(Failure) {
                let output =
                    if start == nil {
                        try await operation(input)
                    } else {
                        try await observers.surroundAttempt(at: name) { () async throws(Failure) in
                            try await operation(input)
                        }
                    }
                observers.tell(name, attemptSince: start, error: nil)
                return output
            } catch {
                observers.tell(name, attemptSince: start, error: error)
                throw .operation(error)
            }
        }
    }

    /// Performs the operation.
    ///
    /// - Parameter input: The input of the operation.
    /// - Returns: The result of the operation or of a fallback.
    /// - Throws: The error of the operation, or the error that `failure` returned for a ``ResilienceError``.
    public func callAsFunction(_ input: Input) async throws(Failure) -> Output {
        do throws(AttemptError) {
            return try await attempt(input, CallObservers())
        } catch {
            throw converted(error)
        }
    }

    /// Returns the error of an attempt as an error of the operation.
    func converted(_ error: AttemptError) -> Failure {
        switch error {
        case .operation(let error): error
        case .resilience(let error): failure(error)
        }
    }

    /// Returns this operation with other work, which usually calls the current work.
    func wrapped(in attempt: @escaping Attempt) -> Self { Self(name, failure: failure, attempt: attempt) }

    /// Returns an error of a decorator.
    func failed(
        _ reason: ResilienceError.Reason,
        _ explanation: String,
        retryAfter: Duration? = nil,
        wasStarted: Bool = true
    ) -> AttemptError {
        .resilience(
            ResilienceError(
                reason,
                operation: name,
                explanation: explanation,
                retryAfter: retryAfter,
                wasStarted: wasStarted
            )
        )
    }
}

extension ResilientOperation where Failure == any Error {
    /// Creates an operation without decorators whose closure can throw any error. Decorators throw a ``ResilienceError``.
    ///
    /// ```swift
    /// let findUser = ResilientOperation("the user query") { (id: Int) in
    ///     try await client.fetchData(from: URL(string: "https://api.example.com/users/\(id)")!)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the operation, as the beginning of a sentence. It must not contain credentials.
    ///   - operation: Performs the operation. It should end early when its task is cancelled, because decorators cancel work
    ///     that nobody waits for any longer, and await its end.
    public init(
        _ name: String = "the operation",
        operation: @escaping @Sendable (Input) async throws -> Output
    ) {
        self.init(name, failure: { $0 }, operation: operation)
    }
}

/// The error of one attempt: of the operation itself, or of a decorator.
enum AttemptFailure<Failure: Error>: Error {
    case operation(Failure)
    case resilience(ResilienceError)

    /// Whether the operation may have been started.
    var wasStarted: Bool {
        switch self {
        case .operation: true
        case .resilience(let error): error.wasStarted
        }
    }

    /// Whether the caller or a timeout cancelled the task. The error itself then says nothing about the upstream.
    var isCancellation: Bool {
        switch self {
        case .operation: Task.isCancelled
        case .resilience(let error): error.reason == .cancelled
        }
    }
}

/// An error of a decorator of a ``ResilientOperation``: the call timed out, was rejected, or was cancelled.
///
/// ```swift
/// let findUser = ResilientOperation("the user query") { (id: Int) in "user \(id)" }
///     .breakingCircuit(CircuitBreaker("database")) { _ in true }
/// do {
///     print(try await findUser(7))
/// } catch let error as ResilienceError where error.reason == .rejected {
///     print(error)  // the user query was not sent: the circuit to database is open, because …
/// }
/// ```
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

    /// The operation and what happened, as one sentence without its period.
    public var description: String { "\(operation) \(explanation)" }
}
