public import InwardFetching
public import InwardRepositories

/// How many sessions a ``SessionRegistry`` has open, how long it keeps an unused one, and how much memory each of them may use.
///
///     let limits = SessionLimits(count: 5_000, idleTime: .seconds(300), memory: MemoryLimit(count: 100, bytes: 64 * 1_024))
///     let sessions = try await app.sessionRegistry(limits)
///
/// The sessions together cache at most ``count`` × the number of endpoints that a session uses × twice the bytes of ``memory``: each
/// repository has one cache for entities and one for lists. By default that is 500 MiB for each endpoint, if 1,000 users fill their
/// caches. Responses are cached besides, for all sessions together, up to ``AppScopeConfiguration/responseCacheBytes``; endpoints for
/// everyone are cached once for the app, up to ``AppScopeConfiguration/memory``. Sizes are those of the upstream's encoding.
public struct SessionLimits: Hashable, Sendable {
    /// How many sessions are open at most, including those that are being opened or closed.
    public let count: Int
    /// How long a session is kept that is not in use.
    public let idleTime: Duration
    /// The size limit of the memory cache of each of a session's repositories.
    public let memory: MemoryLimit

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - count: How many sessions are open at most; at least 1.
    ///   - idleTime: How long a session is kept that is not in use; at least a second.
    ///   - memory: The size limit of the memory cache of each of a session's repositories. The default is 1,000 entities of 256 KiB
    ///     in total, and the same for lists.
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

/// What a ``SessionRegistry`` has open, and what it has done since it was opened.
public struct SessionRegistryStatus: Hashable, Sendable {
    /// The number of open sessions.
    public internal(set) var openCount = 0
    /// The number of open sessions that are in use.
    public internal(set) var inUseCount = 0
    /// The number of sessions that are being opened, or wait until another one is closed.
    public internal(set) var openingCount = 0
    /// The number of sessions that are being closed.
    public internal(set) var closingCount = 0
    /// How many sessions have been opened.
    public internal(set) var opened = 0
    /// How many sessions were closed because they were not used for the idle time.
    public internal(set) var expired = 0
    /// How many sessions were closed to make room for another.
    public internal(set) var evicted = 0
    /// How many requests were rejected because all sessions were in use.
    public internal(set) var rejected = 0
}

/// An error thrown when a ``SessionRegistry`` has no session for a request.
public struct SessionRegistryError: ProblemDetailsConvertible, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure. New kinds can be added without breaking source compatibility.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        private enum Code: String {
            case full, closed, failed, cancelled, deadlinePassed
        }

        private let code: Code

        /// As many sessions as the limit allows are in use. Nothing was opened; a retry can succeed.
        public static let full = Self(code: .full)
        /// The registry or the app is closed or shutting down, or the user was signed out in the meantime.
        public static let closed = Self(code: .closed)
        /// The objects of the service for the session could not be made.
        public static let failed = Self(code: .failed)
        /// The task was cancelled. The session may open for others who ask for it.
        public static let cancelled = Self(code: .cancelled)
        /// The task's deadline passed. The session may open for others who ask for it.
        public static let deadlinePassed = Self(code: .deadlinePassed)

        /// The name of the kind.
        public var description: String { code.rawValue }
    }

    /// The kind of failure.
    public let reason: Reason
    /// The session, such as `session ada`.
    public let session: String
    /// What happened and what to do, as the end of a sentence that begins with the session.
    public let explanation: String

    init(_ reason: Reason, _ key: SessionKey, _ explanation: String) {
        self.reason = reason
        session = key.title
        self.explanation = explanation
    }

    /// The response of a server: 500 if the objects of the service could not be made, or else 503.
    public var problemDetails: ProblemDetails { reason == .failed ? .internalError : .unavailable }

    /// One sentence, without a final period.
    public var description: String { "\(session) \(explanation)" }
}
