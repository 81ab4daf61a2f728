public import InwardFetching
public import InwardRepositories
import Synchronization

/// An observer of the sessions of an ``AppScope``.
///
/// ```swift
/// struct SessionPrinter: SessionObserver {
///     func sessionOpened(_ user: String, after duration: Duration) { print("Opened a session in \(duration).") }
/// }
/// configuration.observers.sessions = SessionPrinter()
/// ```
///
/// Every method has a default implementation that does nothing, so implement only those you need. Tasks call the methods
/// concurrently and wait for them, so return quickly. Durations are measured with the app's clock.
public protocol SessionObserver: Sendable {
    /// Called when a session has opened, including one that delivers the writes of a user who is not signed in.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - duration: How long it took to open the session.
    func sessionOpened(_ user: String, after duration: Duration)

    /// Called when an open session has closed, for whatever reason.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - duration: How long the session was open.
    func sessionClosed(_ user: String, after duration: Duration)

    /// Called when a ``SessionRegistry`` closes a session because its idle time passed.
    func sessionExpired(_ user: String)

    /// Called when a ``SessionRegistry`` closes a session to make room for another.
    func sessionEvicted(_ user: String)

    /// Called when a ``SessionRegistry`` rejects a request of a user because all sessions that the limit allows are in use.
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

/// The observers of an app's requests, repositories and sessions.
///
/// ```swift
/// struct SessionPrinter: SessionObserver {
///     func sessionOpened(_ user: String, after duration: Duration) { print("Opened a session in \(duration).") }
/// }
/// var configuration = AppScopeConfiguration(upstream)
/// configuration.observers = AppObservers(sessions: SessionPrinter())
/// ```
///
/// With the trait `Observability`, `AppObservers.telemetry()` of `InwardObservability` emits logs, metrics and traces.
public struct AppObservers: Sendable {
    /// The observer of requests to upstreams, or `nil` for none.
    public var fetching: (any FetchObserver)?
    /// The observer of repositories, their store and their outboxes, or `nil` for none.
    public var repositories: (any RepositoryObserver)?
    /// The observer of sessions, or `nil` for none.
    public var sessions: (any SessionObserver)?

    /// Creates observers, by default none.
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

/// A reporter that tells an observer once that a session has opened, and once that it has closed.
package final class SessionReport: Sendable {
    private enum State {
        case opening(since: Duration)
        case open(since: Duration)
        case closed
    }

    private let user: String
    private let observer: any SessionObserver
    private let state: Mutex<State>

    /// Creates a reporter for a session that starts to open.
    package init(_ user: String, observer: any SessionObserver, at now: Duration) {
        self.user = user
        self.observer = observer
        state = Mutex(.opening(since: now))
    }

    /// Reports that the session has opened.
    package func opened(at now: Duration) {
        let start = state.withLock { state -> Duration? in
            guard case .opening(let start) = state else { return nil }
            state = .open(since: now)
            return start
        }
        if let start { observer.sessionOpened(user, after: now - start) }
    }

    /// Reports that the session has closed, if it had opened.
    package func closed(at now: Duration) {
        let start = state.withLock { state -> Duration? in
            defer { state = .closed }
            guard case .open(let start) = state else { return nil }
            return start
        }
        if let start { observer.sessionClosed(user, after: now - start) }
    }
}
