import InwardCore
import Synchronization

/// A bounded pool of the sessions of a server's users. It opens a user's session on first use, and closes it when it is idle.
///
/// ```swift
/// let sessions = try await app.sessionRegistry(SessionLimits(count: 1_000, idleTime: .seconds(600)))
/// let comment = try await sessions.withSession(of: "ada", credentials: .fixed(.bearer(token))) { session in
///     try await session.repository(commentsEndpoint).entity(7)
/// }
/// await sessions.signOut("ada")
/// ```
///
/// **Opening.** Concurrent callers for the same user share one session. A cancelled caller does not cancel the opening for the
/// others. A failure to open a session is not cached, so the next call tries again.
///
/// **Idle time.** A session's idle time starts when the last call that uses the session ends. When the idle time passes, the
/// registry closes the session, unless requests of the session are in flight. In that case the idle time starts again.
///
/// **Limit.** There are never more sessions than the limit. At the limit, the registry closes the least recently used session
/// before it opens the next. It does not close sessions that are in use, including those with requests in flight. If all are in
/// use, the call fails at once with ``SessionRegistryError/Reason/full``. It does not wait, so an overloaded server can respond
/// immediately, for example with 503, and two requests that each hold a session cannot deadlock.
///
/// **Authentication.** The registry does not authenticate. If the named user has an open session, it returns the session
/// without comparing credentials, so authenticate the user first. A session without credentials is separate from that of a user
/// with the same name.
///
/// When the registry closes a session, the user's pending writes stay in the store for the next session, and failures go to the
/// app's error handler. Closing the app closes the registry.
public final class SessionRegistry<Own: Sendable>: Sendable {
    typealias Session = SessionScope<Own>
    typealias Answer = Result<Session, SessionRegistryError>

    private struct State {
        var table: SessionTable<Session>
        /// The callers that wait for a session, by session number.
        var waiters: [Int: [Promise<Answer>]] = [:]
        /// The tasks that open sessions, by session number. The value is the session, or `nil` if it could not be opened.
        var openings: [Int: Task<Session?, Never>] = [:]
        /// The tasks that close sessions, by session number.
        var closings: [Int: Task<Void, Never>] = [:]
        /// The alarm for the next session that expires. At most one is set.
        var alarm: TimerService.Timer?
    }

    /// A session in use.
    private struct Use {
        let key: SessionKey
        let number: Int
        let session: Session
        /// The use, as work in flight in the registry's scope.
        let work: TrackedWork
        let place: Int
    }

    /// The limits on the sessions.
    public let limits: SessionLimits
    private let scope: SessionRegistryScope<Own>
    private let isAcceptingWork: @Sendable () -> Bool
    private let signIn: @Sendable (String, SessionCredentials) async throws -> Session
    private let timer: TimerService
    private let errorHandler: any ErrorHandler
    private let observer: (any SessionObserver)?
    private let state: Mutex<State>

    init(
        _ limits: SessionLimits,
        in scope: SessionRegistryScope<Own>,
        of app: AppScope<some Sendable>.Objects,
        acceptingWhile isAcceptingWork: @escaping @Sendable () -> Bool,
        signIn: @escaping @Sendable (String, SessionCredentials) async throws -> Session
    ) {
        self.limits = limits
        self.scope = scope
        self.isAcceptingWork = isAcceptingWork
        self.signIn = signIn
        timer = app.timer
        errorHandler = app.configuration.errorHandler
        observer = app.configuration.observers.sessions
        state = Mutex(State(table: SessionTable(limits)))
    }

    /// The number of sessions that are open, in use, expired, evicted and so on. Use it for telemetry.
    public var status: SessionRegistryStatus { state.withLock(\.table.status) }

    /// Returns a user's session, and opens it if necessary.
    ///
    /// ```swift
    /// let sessions = try await app.sessionRegistry()
    /// let session = try await sessions.session(of: "ada", key: "phone", credentials: .fixed(.bearer(token)))
    /// ```
    ///
    /// The session's idle time starts when this method returns. If a request of the session is in flight when the idle time
    /// passes, the idle time starts again. A request that has already ended does not extend it. To keep the session open for
    /// longer, use ``withSession(of:key:credentials:_:)``.
    ///
    /// - Parameters:
    ///   - user: The user's identity. See ``AppScope/signIn(as:credentials:pendingWrites:memory:making:)``.
    ///   - key: A text that distinguishes several sessions of the user, such as the name of a device. `nil` if there is only
    ///     one.
    ///   - credentials: The credentials that the session sends if this call opens it. A session that is already open keeps its
    ///     own, so use ``SessionCredentials/refreshing(atMostEvery:within:_:)`` for credentials that expire.
    /// - Returns: The session. To close it, call ``signOut(_:key:)``.
    /// - Throws: A ``SessionRegistryError`` if the session could not be opened.
    public func session(
        of user: String,
        key: String? = nil,
        credentials: SessionCredentials = .none
    ) async throws(SessionRegistryError) -> SessionScope<Own> {
        let use = try await begin(SessionKey(user: user, key: key, isGuest: credentials.areNone), credentials)
        defer { end(use) }
        return use.session
    }

    /// Runs work with a user's session, and keeps the session open until the work ends. Opens the session if necessary.
    ///
    /// ```swift
    /// let sessions = try await app.sessionRegistry()
    /// let list = try await sessions.withSession(of: "ada", credentials: .fixed(.bearer(token))) { session in
    ///     try await session.repository(commentsEndpoint).entities()
    /// }
    /// ```
    ///
    /// The session closes during the work only if the user is signed out, the registry or the app is closed, or the credentials
    /// can no longer be renewed. Do not close the registry or the app from within the work, because the work and the closing
    /// would wait for each other until a limit passes.
    ///
    /// - Parameters:
    ///   - user: The user's identity.
    ///   - key: A text that distinguishes several sessions of the user, such as the name of a device. `nil` if there is only
    ///     one.
    ///   - credentials: The credentials that the session sends if this call opens it.
    ///   - work: The work. Do not use the session after the work has ended.
    /// - Returns: The value that the work returns.
    /// - Throws: The error that the work throws, or a ``SessionRegistryError`` if the session could not be opened, in which
    ///   case the work does not start.
    public func withSession<Value>(
        of user: String,
        key: String? = nil,
        credentials: SessionCredentials = .none,
        _ work: (SessionScope<Own>) async throws -> Value
    ) async throws -> Value {
        let use = try await begin(SessionKey(user: user, key: key, isGuest: credentials.areNone), credentials)
        defer { end(use) }
        return try await work(use.session)
    }

    /// Closes all sessions of a user, even those in use, and waits until they are closed. Pending writes stay in the store.
    ///
    /// - Parameter user: The user.
    /// - Complexity: O(n) in the number of open sessions.
    public func signOut(_ user: String) async {
        await signOut(user) { _ in true }
    }

    private func signOut(_ user: String, where isMeant: (SessionKey) -> Bool) async {
        let closings = state.withLock { state in
            state.table.keys(of: user).filter(isMeant).compactMap { startClosing($0, &state) }
        }
        for closing in closings { await closing.value }
    }

    /// Closes one session of a user, even if it is in use, and waits until it is closed. Pending writes stay in the store.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - key: The key of the session, or `nil` for the session without a key.
    public func signOut(_ user: String, key: String?) async {
        await signOut(user) { $0.key == key }
    }

    /// Waits for the work that uses sessions, up to the app's closing limit, and closes the registry with all its sessions.
    ///
    /// Failures to close a session go to the app's error handler.
    ///
    /// - Throws: A ``ScopeCloseError`` if work or a session did not end in time. The registry is closed nevertheless.
    public func close() async throws(ScopeCloseError) {
        try await scope.close()
    }

    // MARK: Use

    private func begin(
        _ key: SessionKey,
        _ credentials: SessionCredentials
    ) async throws(SessionRegistryError) -> Use {
        // Closing the registry and shutting down the app wait for this work.
        let work = TrackedWork()
        guard let place = try? scope.begin(work) else { throw Self.closed(key) }
        do throws(SessionRegistryError) {
            // Checked after the work is tracked, so that a concurrent shutdown either waits for the work or is noticed here.
            guard isAcceptingWork() else { throw Self.closed(key) }
            let (session, number) = try await lease(key, credentials)
            return Use(key: key, number: number, session: session, work: work, place: place)
        } catch {
            scope.end(place)
            work.finish()
            throw error
        }
    }

    private func end(_ use: Use) {
        release(use.key, number: use.number)
        scope.end(use.place)
        use.work.finish()
    }

    /// Returns a session, and the number with which to release it.
    private func lease(
        _ key: SessionKey,
        _ credentials: SessionCredentials
    ) async throws(SessionRegistryError) -> (Session, number: Int) {
        let promise = Promise<Answer>()
        let admission = state.withLock { state in
            let admission = state.table.admit(key, at: timer.now)
            switch admission {
            case .joins(let number): state.waiters[number, default: []].append(promise)
            case .opens(let number, let departure, let earlier):
                if let departure { startClosing(departure, &state) }
                state.waiters[number] = [promise]
                startOpening(key, number: number, credentials, after: earlier.compactMap { state.closings[$0] }, &state)
            case .open, .full, .closed: break
            }
            return admission
        }
        let number: Int
        switch admission {
        case .open(let session, let number): return (session, number)
        case .joins(let joined): number = joined
        case .opens(let opened, _, _): number = opened
        case .full:
            observer?.sessionRejected(key.user)
            let explanation = """
                was not opened, because all \(limits.count) sessions are in use. Try again later, or raise \
                `SessionLimits.count`
                """
            throw SessionRegistryError(.full, key, explanation)
        case .closed: throw Self.closed(key)
        }
        switch await promise.value() {
        case .fulfilled(let answer): return (try answer.get(), number)
        case .cancelled:
            release(key, number: number)
            throw SessionRegistryError(.cancelled, key, "was not open yet when the waiting task was cancelled")
        case .deadlinePassed:
            release(key, number: number)
            throw SessionRegistryError(.deadlinePassed, key, "was not open yet when the deadline of the task passed")
        }
    }

    private func release(_ key: SessionKey, number: Int) {
        state.withLock { state in
            state.table.release(key, number: number, at: timer.now)
            setAlarm(&state)
        }
    }

    private static func closed(_ key: SessionKey) -> SessionRegistryError {
        SessionRegistryError(.closed, key, "was not opened, because the registry is closed or the app is shutting down")
    }

    // MARK: Opening

    /// Opens a session, and resumes its waiters.
    private func startOpening(
        _ key: SessionKey,
        number: Int,
        _ credentials: SessionCredentials,
        after earlier: [Task<Void, Never>],
        _ state: inout State
    ) {
        // Unstructured, because the session opens for all callers, even if the first one leaves. The deadline of the first
        // caller does not apply. The task is never cancelled, because each of its waits has a limit. Closing the session or the
        // registry waits for it.
        state.openings[number] = Deadline.lifted {
            Task.starting(on: timer.executor) { [self] in
                for closing in earlier { await closing.value }
                let result = await Result(awaiting: { try await signIn(key.user, credentials) })
                let (waiters, answer) = self.state.withLock { state in
                    let answer = record(result, key, number: number, &state)
                    setAlarm(&state)
                    state.openings[number] = nil
                    return (state.waiters.removeValue(forKey: number) ?? [], answer)
                }
                for waiter in waiters { waiter.fulfill(answer) }
                return try? result.get()
            }
        }
    }

    private func record(
        _ result: Result<Session, any Error>,
        _ key: SessionKey,
        number: Int,
        _ state: inout State
    ) -> Answer {
        switch result {
        case .success(let session):
            guard state.table.opened(session, key, number: number, at: timer.now) else {
                return .failure(SessionRegistryError(.closed, key, "was signed out while it was opening"))
            }
            return .success(session)
        case .failure(let error):
            state.table.failed(key, number: number)
            let reason: SessionRegistryError.Reason = error is ScopeError ? .closed : .failed
            return .failure(SessionRegistryError(reason, key, "was not opened: \(error)"))
        }
    }

    // MARK: Closing

    /// Sets an alarm for the next session that expires, unless one is set. If the session was used again in the meantime, the
    /// alarm closes nothing and is set again.
    private func setAlarm(_ state: inout State) {
        guard state.alarm == nil, let moment = state.table.nextExpiry else { return }
        state.alarm = timer.schedule(at: moment) { [weak self] in self?.closeExpired() }
    }

    private func closeExpired() {
        state.withLock { state in
            state.alarm = nil
            for departure in state.table.expire(at: timer.now) { startClosing(departure, &state) }
            setAlarm(&state)
        }
    }

    /// Starts closing a session, unless it is already closing.
    ///
    /// - Returns: The task that closes it, or `nil` if there is no such session.
    private func startClosing(_ key: SessionKey, _ state: inout State) -> Task<Void, Never>? {
        if let departure = state.table.depart(key) { return startClosing(departure, &state) }
        return state.table.departing(key).flatMap { state.closings[$0] }
    }

    @discardableResult
    private func startClosing(_ departure: SessionTable<Session>.Departure, _ state: inout State) -> Task<Void, Never> {
        let opening = state.openings[departure.number]
        // Unstructured, because the alarm that expires a session cannot wait. The task is never cancelled, because closing a
        // session has limits of its own. The next session in the slot, signing out, and closing the registry wait for the task.
        let task = Deadline.lifted {
            Task.starting(on: timer.executor) { [self] in
                switch departure.cause {
                case .expired: observer?.sessionExpired(departure.key.user)
                case .evicted: observer?.sessionEvicted(departure.key.user)
                case nil: break
                }
                var session = departure.session
                if session == nil { session = await opening?.value }
                if let session { await close(session) }
                self.state.withLock { state in
                    state.table.departed(departure)
                    state.closings[departure.number] = nil
                }
            }
        }
        state.closings[departure.number] = task
        return task
    }

    private func close(_ session: Session) async {
        let isOpen = session.isOpen
        do {
            try await session.close()
        } catch {
            // If the session was already closing, whatever started that, a caller or the credentials, handles the error.
            if isOpen { errorHandler.handle(error) }
        }
    }

    /// Closes all sessions.
    func closeAll() async {
        let closings = state.withLock { state in
            if let alarm = state.alarm { timer.cancel(alarm) }
            for departure in state.table.close() { startClosing(departure, &state) }
            return Array(state.closings.values)
        }
        for closing in closings { await closing.value }
    }
}
