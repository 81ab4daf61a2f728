import InwardCore
import Synchronization

/// The open sessions of a server's users: one for each, opened on first use, and closed when it is not used.
///
///     let sessions = try await app.sessionRegistry(SessionLimits(count: 1_000, idleTime: .seconds(600)))
///     let comment = try await sessions.withSession(of: "ada", credentials: .fixed(.bearer(token))) { session in
///         try await session.repository(.comments).entity(7)
///     }
///     await sessions.signOut("ada")
///
/// - Callers that ask for a session at the same time get the same one, which is opened once. A caller that is cancelled leaves it to
///   the others. A failure to open a session is not remembered.
/// - A session in use stays open: from the beginning to the end of ``withSession(of:key:credentials:_:)``, and while requests of it
///   are in flight. Otherwise it is closed when its idle time has passed.
/// - There are never more sessions than the limit. If it is reached, the session whose use ended first is closed before the next one
///   opens. If all are in use, the call fails at once with ``SessionRegistryError/Reason/full``. It does not wait, so that an overloaded
///   server can answer at once, for example with 503, and two requests that each hold a session cannot wait for each other.
///
/// The registry does not authenticate anybody: a caller with credentials gets the open session of the user that it names. Authenticate
/// the user first. A session without credentials is apart from that of a user of the same name.
///
/// A session that is closed leaves the user's pending writes in the store for the user's next session. Failures while a session is
/// closed go to the error handler of the app. Closing the app closes the registry.
public final class SessionRegistry<Own: Sendable>: Sendable {
    typealias Session = SessionScope<Own>
    typealias Answer = Result<Session, SessionRegistryError>

    private struct State {
        var table: SessionTable<Session>
        /// The callers that wait for a session, by its number.
        var waiters: [Int: [Promise<Answer>]] = [:]
        /// The tasks that open sessions, by their numbers. The value is the session; `nil` if it could not be opened.
        var openings: [Int: Task<Session?, Never>] = [:]
        /// The tasks that close sessions, by their numbers.
        var closings: [Int: Task<Void, Never>] = [:]
        /// The alarm for the next session that expires. At most one is set.
        var alarm: TimerService.Timer?
    }

    /// A session in use.
    private struct Use {
        let key: SessionKey
        let number: Int
        let session: Session
        /// The use as work in flight of the registry.
        let work: UncancellableWork
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

    /// How many sessions are open and in use, and what became of others. Use it for telemetry.
    public var status: SessionRegistryStatus { state.withLock(\.table.status) }

    /// Returns a user's open session, and opens it if there is none.
    ///
    /// The session's idle time begins when this method returns, and pauses while requests of the session are in flight. To keep the
    /// session open for longer, use ``withSession(of:key:credentials:_:)``.
    ///
    /// - Parameters:
    ///   - user: What identifies the user across sessions. See ``AppScope/signIn(as:credentials:pendingWrites:memory:making:)``.
    ///   - key: What distinguishes several sessions of the user, such as a device; `nil` for the only one.
    ///   - credentials: The credentials that the session sends, if this call opens it. An open session keeps its own, so use
    ///     ``SessionCredentials/refreshing(atMostEvery:within:_:)`` for credentials that expire.
    /// - Returns: the session. Do not close it: ``signOut(_:key:)`` does.
    /// - Throws: a ``SessionRegistryError``.
    public func session(
        of user: String,
        key: String? = nil,
        credentials: SessionCredentials = .none
    ) async throws(SessionRegistryError) -> SessionScope<Own> {
        let use = try await begin(SessionKey(user: user, key: key, isGuest: credentials.areNone), credentials)
        defer { end(use) }
        return use.session
    }

    /// Keeps a user's session open while some work uses it, and opens it if there is none.
    ///
    ///     let comments = try await sessions.withSession(of: "ada") { session in
    ///         try await session.repository(.comments).all()
    ///     }
    ///
    /// Three things close the session during the work: signing out, closing the registry or the app, and credentials that are refused
    /// for good. Do not close the registry or the app from within the work: each would wait for the other until a limit passes.
    ///
    /// - Parameters:
    ///   - user: What identifies the user across sessions.
    ///   - key: What distinguishes several sessions of the user, such as a device; `nil` for the only one.
    ///   - credentials: The credentials that the session sends, if this call opens it.
    ///   - work: The work. Do not use the session after it.
    /// - Returns: what the work returns.
    /// - Throws: a ``SessionRegistryError`` if there is no session, in which case the work does not begin; the errors of the work.
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

    /// Closes all sessions of a user, used or not, and waits until they are closed. Pending writes stay in the store.
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

    /// Closes one session of a user, used or not, and waits until it is closed. Pending writes stay in the store.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - key: What distinguishes the user's sessions; `nil` for the session without a key.
    public func signOut(_ user: String, key: String?) async {
        await signOut(user) { $0.key == key }
    }

    /// Waits for the work that uses sessions, up to the app's closing limit, closes all sessions, and opens no others.
    ///
    /// Failures to close a session go to the error handler of the app.
    ///
    /// - Throws: a ``ScopeCloseError`` if work or a session did not end in time. The registry is closed nevertheless.
    public func close() async throws(ScopeCloseError) {
        try await scope.close()
    }

    // MARK: Use

    private func begin(
        _ key: SessionKey,
        _ credentials: SessionCredentials
    ) async throws(SessionRegistryError) -> Use {
        // Closing the registry waits for it, and so does shutting down the app.
        let work = UncancellableWork()
        guard let place = try? scope.begin(work) else { throw Self.closed(key) }
        do throws(SessionRegistryError) {
            // Checked after the work has begun, so that a shutdown either sees the work, or is seen here.
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

    /// Returns a session, and its number with which to release it.
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
                was not opened: all \(limits.count) sessions are in use. Try again when requests have ended, or raise the limit \
                of the registry
                """
            throw SessionRegistryError(.full, key, explanation)
        case .closed: throw Self.closed(key)
        }
        switch await promise.value() {
        case .fulfilled(let answer): return (try answer.get(), number)
        case .cancelled:
            release(key, number: number)
            throw SessionRegistryError(.cancelled, key, "was not waited for: the task was cancelled")
        case .deadlinePassed:
            release(key, number: number)
            throw SessionRegistryError(.deadlinePassed, key, "was not open before the deadline of the task")
        }
    }

    private func release(_ key: SessionKey, number: Int) {
        state.withLock { state in
            state.table.release(key, number: number, at: timer.now)
            setAlarm(&state)
        }
    }

    private static func closed(_ key: SessionKey) -> SessionRegistryError {
        SessionRegistryError(.closed, key, "was not opened: the registry is closed, or the app is shutting down")
    }

    // MARK: Opening

    /// Opens a session, and answers its waiters.
    private func startOpening(
        _ key: SessionKey,
        number: Int,
        _ credentials: SessionCredentials,
        after earlier: [Task<Void, Never>],
        _ state: inout State
    ) {
        // Unstructured, because the session opens for all who ask for it, even if the first of them leaves. Nobody cancels it: its
        // waits have limits of their own. Closing the session waits for it, and so does closing the registry. The deadline of the
        // first caller does not apply to it.
        state.openings[number] = Deadline.lifted {
            Task(executorPreference: timer.executor) { [self] in
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
                return .failure(SessionRegistryError(.closed, key, "was signed out while it was opened"))
            }
            return .success(session)
        case .failure(let error):
            state.table.failed(key, number: number)
            let reason: SessionRegistryError.Reason = error is ScopeError ? .closed : .failed
            return .failure(SessionRegistryError(reason, key, "was not opened: \(error)"))
        }
    }

    // MARK: Closing

    /// Sets an alarm for the next session that expires, unless there is one. An alarm that comes early, because the session was
    /// used again, sets the next one.
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

    /// Starts to close a session, unless this has begun.
    ///
    /// - Returns: the task that closes it; `nil` if there is no such session.
    private func startClosing(_ key: SessionKey, _ state: inout State) -> Task<Void, Never>? {
        if let departure = state.table.depart(key) { return startClosing(departure, &state) }
        return state.table.departing(key).flatMap { state.closings[$0] }
    }

    @discardableResult
    private func startClosing(_ departure: SessionTable<Session>.Departure, _ state: inout State) -> Task<Void, Never> {
        let opening = state.openings[departure.number]
        // Unstructured, because nobody waits for the end of a session that has expired. Nobody cancels it: closing a session has
        // limits of its own. The next session in its slot, signing out, and closing the registry wait for it.
        let task = Deadline.lifted {
            Task(executorPreference: timer.executor) { [self] in
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
            // Otherwise its caller is told, or the error handler, if the session's credentials closed it.
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
