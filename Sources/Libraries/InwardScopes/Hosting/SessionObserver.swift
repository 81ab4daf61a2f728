public import InwardFetching
public import InwardRepositories
import Synchronization

/// An observer of the sessions of an ``AppScope``.
///
///     struct SessionPrinter: SessionObserver {
///         func sessionOpened(_ user: String, after duration: Duration) { print("A session opened within \(duration)") }
///     }
///     configuration.observers.sessions = SessionPrinter()
///
/// Every method has a default implementation that does nothing, so implement only those you need. Methods are called from many
/// tasks concurrently, so return quickly. Durations are those of the app's clock.
public protocol SessionObserver: Sendable {
    /// Called when a session is open, including one that is opened to deliver the writes of an absent user.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - duration: How long it took to open it.
    func sessionOpened(_ user: String, after duration: Duration)

    /// Called when a session that was open is closed, for whatever reason.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - duration: How long it was open.
    func sessionClosed(_ user: String, after duration: Duration)

    /// Called when a ``SessionRegistry`` closes a session because it was not used for the idle time.
    func sessionExpired(_ user: String)

    /// Called when a ``SessionRegistry`` closes a session to make room for another.
    func sessionEvicted(_ user: String)

    /// Called when a ``SessionRegistry`` rejects a request of a user because all sessions are in use.
    func sessionRejected(_ user: String)
}

extension SessionObserver {
    /// Does nothing.
    public func sessionOpened(_ user: String, after duration: Duration) {}
    /// Does nothing.
    public func sessionClosed(_ user: String, after duration: Duration) {}
    /// Does nothing.
    public func sessionExpired(_ user: String) {}
    /// Does nothing.
    public func sessionEvicted(_ user: String) {}
    /// Does nothing.
    public func sessionRejected(_ user: String) {}
}

/// The observers of an app: who is told what happens to requests, repositories and sessions.
///
///     var configuration = AppScopeConfiguration(upstream)
///     configuration.observers = AppObservers(fetching: observer)
///
/// With the trait `Observability`, `AppObservers.telemetry()` of `InwardObservability` makes logs, metrics and traces of it all.
public struct AppObservers: Sendable {
    /// The observer of requests to the upstream; `nil` for none.
    public var fetching: (any FetchObserver)?
    /// The observer of repositories, their store, and outboxes; `nil` for none.
    public var repositories: (any RepositoryObserver)?
    /// The observer of sessions; `nil` for none.
    public var sessions: (any SessionObserver)?

    /// Creates observers. Without any, nothing is measured.
    public init(
        fetching: (any FetchObserver)? = nil,
        repositories: (any RepositoryObserver)? = nil,
        sessions: (any SessionObserver)? = nil
    ) {
        self.fetching = fetching
        self.repositories = repositories
        self.sessions = sessions
    }
}

/// Tells an observer of one session: that it is open, and that it is closed if it was open.
package final class SessionReport: Sendable {
    private enum State {
        case opening(since: Duration)
        case open(since: Duration)
        case closed
    }

    private let user: String
    private let observer: any SessionObserver
    private let state: Mutex<State>

    /// Creates the report of a session that begins to open.
    package init(_ user: String, observer: any SessionObserver, at now: Duration) {
        self.user = user
        self.observer = observer
        state = Mutex(.opening(since: now))
    }

    /// Tells that the session is open.
    package func opened(at now: Duration) {
        let start = state.withLock { state -> Duration? in
            guard case .opening(let start) = state else { return nil }
            state = .open(since: now)
            return start
        }
        if let start { observer.sessionOpened(user, after: now - start) }
    }

    /// Tells that the session is closed, if it was open.
    package func closed(at now: Duration) {
        let start = state.withLock { state -> Duration? in
            defer { state = .closed }
            guard case .open(let start) = state else { return nil }
            return start
        }
        if let start { observer.sessionClosed(user, after: now - start) }
    }
}
