/// An error thrown by a repository, whatever source the repository reads from and writes to.
///
/// ```swift
/// do throws(RepositoryError) {
///     print(try await users.user(7).name)
/// } catch {
///     print("\(error).")
///     if error.canRetry { print("Try again after \(error.retryAfter ?? .seconds(1)).") }
/// }
/// ```
public struct RepositoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public let reason: Reason
    /// The request in the source's notation, such as `GET http://127.0.0.1:8787/users`. It contains no credentials.
    public let request: String
    /// What happened, as the end of a sentence that begins with the request, such as `was answered with 503`.
    public let explanation: String
    /// Whether an unchanged retry can succeed.
    public let canRetry: Bool
    /// How long the source asked clients to wait before a retry, or `nil` if it did not say.
    public let retryAfter: Duration?

    /// Creates an error from the request, what happened, and whether a retry can succeed.
    public init(
        _ reason: Reason,
        request: String,
        explanation: String,
        canRetry: Bool = false,
        retryAfter: Duration? = nil
    ) {
        self.reason = reason
        self.request = request
        self.explanation = explanation
        self.canRetry = canRetry
        self.retryAfter = retryAfter
    }

    /// One sentence, without a final period, that names the request and what happened.
    public var description: String { "\(request) \(explanation)" }
}

extension RepositoryError {
    /// The kinds of failure that a caller can distinguish. New kinds can be added without breaking source
    /// compatibility.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        /// The kinds as a closed enumeration, for an exhaustive `switch`.
        public enum Code: String, Hashable, Sendable, CaseIterable {
            case cancelled
            case closed
            case notFound
            case unavailable
            case denied
            case refused
            case conflict
            case unreadable
            case outcomeUnknown
        }

        /// The kind, for use in a `switch`.
        public let code: Code

        /// The caller was cancelled before there was an answer.
        public static let cancelled = Self(code: .cancelled)
        /// The owner of the repository has ended, such as a session that was signed out. No request was made.
        public static let closed = Self(code: .closed)
        /// The source has nothing with this identity or name.
        public static let notFound = Self(code: .notFound)
        /// The source could not be reached, did not answer in time, or cannot serve requests at the moment.
        public static let unavailable = Self(code: .unavailable)
        /// The source requires credentials, or different ones.
        public static let denied = Self(code: .denied)
        /// The source understood the request and rejected it. An unchanged retry cannot succeed.
        public static let refused = Self(code: .refused)
        /// The source has a different version than the one that the write is based on. Nothing was changed.
        public static let conflict = Self(code: .conflict)
        /// The source's answer is damaged, or is not what was requested.
        public static let unreadable = Self(code: .unreadable)
        /// A write was sent, but no answer says whether it was applied.
        public static let outcomeUnknown = Self(code: .outcomeUnknown)

        /// The name of the kind.
        public var description: String { code.rawValue }
    }
}
