public import InwardFetching
public import InwardRepositories

/// The limits of a ``SessionRegistry``: how many sessions it has, how long a session can be idle, and how much memory each can
/// use.
///
/// ```swift
/// let limits = SessionLimits(count: 5_000, idleTime: .seconds(300), memory: MemoryLimit(count: 100, bytes: 64 * 1_024))
/// let sessions = try await app.sessionRegistry(limits)
/// ```
///
/// Each session has two caches for each endpoint that it uses, one for entities and one for lists, each limited by ``memory``.
/// With the defaults, 1,000 users who fill their caches need 500 MiB for each endpoint. In addition, all sessions share one
/// cache of responses, limited by ``AppScopeConfiguration/responseCacheBytes``, and two caches for each endpoint with the
/// audience `everyone`, each limited by ``AppScopeConfiguration/memory``. Sizes are measured in the upstream's encoding.
public struct SessionLimits: Hashable, Sendable {
    /// The maximum number of sessions, including those that are opening or closing.
    public let count: Int
    /// How long a session stays open without being used.
    public let idleTime: Duration
    /// The size limit of the memory cache of each of a session's repositories.
    public let memory: MemoryLimit

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - count: The maximum number of sessions, at least 1. The default is 1,000.
    ///   - idleTime: How long a session stays open without being used, at least one second. The default is 15 minutes.
    ///   - memory: The size limit of the memory cache of each of a session's repositories. The default is 1,000 entities of 256
    ///     KiB in total, and the same for lists.
    public init(
        count: Int = 1_000,
        idleTime: Duration = .seconds(15 * 60),
        memory: MemoryLimit = MemoryLimit(count: 1_000, bytes: 256 * 1_024)
    ) {
        self.count = max(1, count)
        self.idleTime = max(.seconds(1), idleTime)
        self.memory = memory
    }
}

/// The current numbers of sessions in a ``SessionRegistry``, and counts of what has happened since it was opened.
///
/// ```swift
/// let sessions = try await app.sessionRegistry()
/// let status = sessions.status
/// print("\(status.inUseCount) of \(status.openCount) sessions are in use, \(status.rejected) requests were rejected.")
/// ```
public struct SessionRegistryStatus: Hashable, Sendable {
    /// The number of open sessions.
    public internal(set) var openCount = 0
    /// The number of open sessions that are in use.
    public internal(set) var inUseCount = 0
    /// The number of sessions that are opening, or waiting until another one is closed.
    public internal(set) var openingCount = 0
    /// The number of sessions that are closing.
    public internal(set) var closingCount = 0
    /// The number of sessions opened so far.
    public internal(set) var opened = 0
    /// The number of sessions closed so far because their idle time passed.
    public internal(set) var expired = 0
    /// The number of sessions closed so far to make room for another.
    public internal(set) var evicted = 0
    /// The number of requests rejected so far because all sessions that the limit allows were in use.
    public internal(set) var rejected = 0
}

/// An error thrown when a ``SessionRegistry`` has no session for a request.
///
/// ```swift
/// let sessions = try await app.sessionRegistry()
/// do throws(SessionRegistryError) {
///     print(try await sessions.session(of: "ada"))
/// } catch {
///     print(error.problemDetails.status, error)
/// }
/// ```
public struct SessionRegistryError: ProblemDetailsConvertible, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure. New kinds can be added without breaking source compatibility.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        private enum Code: String {
            case full, closed, failed, cancelled, deadlinePassed
        }

        private let code: Code

        /// All sessions that the limit allows are in use. A later retry can succeed.
        public static let full = Self(code: .full)
        /// The registry or the app is closed, the app is shutting down, or the user was signed out while the session was
        /// opening.
        public static let closed = Self(code: .closed)
        /// The closure that creates your objects for the session threw an error.
        public static let failed = Self(code: .failed)
        /// The task was cancelled. The session may still open for other callers.
        public static let cancelled = Self(code: .cancelled)
        /// The task's deadline passed. The session may still open for other callers.
        public static let deadlinePassed = Self(code: .deadlinePassed)

        /// The name of the kind.
        public var description: String { code.rawValue }
    }

    /// The kind of failure.
    public let reason: Reason
    /// The session, such as `session ada`.
    public let session: String
    /// The cause and what to do, worded to follow the name of the session.
    public let explanation: String

    init(_ reason: Reason, _ key: SessionKey, _ explanation: String) {
        self.reason = reason
        session = key.title
        self.explanation = explanation
    }

    /// The response with which a server reports the error: 500 if the reason is ``Reason/failed``, or else 503.
    public var problemDetails: ProblemDetails { reason == .failed ? .internalError : .unavailable }

    /// The session and the explanation, without a final period.
    public var description: String { "\(session) \(explanation)" }
}
