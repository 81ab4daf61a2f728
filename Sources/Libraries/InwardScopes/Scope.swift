public import InwardCore
public import InwardFetching
public import Synchronization

/// The owner of the objects of one lifetime, which closes all of them together.
///
/// ```swift
/// actor Mailer {
///     func close() {}
/// }
///
/// let limit = ClosingLimit(.seconds(5), on: ContinuousClock())
/// let app = await Scope<AppLifetime, Mailer>.open("comments", limit: limit) { opening in
///     opening.closing(Mailer(), as: "mailer") { await $0.close() }
/// }
/// let session = try Scope<SessionLifetime, Int>("ada", in: app, objects: 7)
/// try await app.close()  // Closes the session, then the mailer.
/// ```
///
/// Closing a scope
///
/// 1. closes its child scopes, the newest first,
/// 2. cancels the work in flight, and waits until it has ended, and
/// 3. closes its objects in the reverse order of their registration, and releases them.
///
/// A time limit applies to the work in flight, and to the closing of each object. As soon as a scope starts to close, using it
/// throws a ``ScopeError``.
///
/// You can use a scope from several tasks concurrently. A scope retains its child scopes until they are closed, so close every
/// scope that you open. To expose the objects of a scope as properties, wrap the scope in a ``Container``.
public final class Scope<Level: Lifetime, Objects: Sendable>: Sendable {
    /// The name that distinguishes this scope from others of its lifetime.
    public let name: String
    let limit: ClosingLimit
    private let outer: (any OuterScope)?
    private let state: Mutex<ScopeState>
    /// The objects, from the end of the opening until they are released. Only an open scope gives them out.
    @usableFromInline let content: Mutex<Objects?>

    private init(_ name: String, in outer: (any OuterScope)?, limit: ClosingLimit, objects: Objects? = nil) {
        self.name = name
        self.outer = outer
        self.limit = limit
        state = Mutex(ScopeState(isOpen: objects != nil))
        content = Mutex(objects)
    }

    /// Opens a scope whose objects need no closing.
    ///
    /// - Parameters:
    ///   - name: The name that distinguishes the scope from others of its lifetime.
    ///   - outer: The enclosing scope. Closing it closes this scope first.
    ///   - objects: The scope's objects.
    /// - Throws: A ``ScopeError`` if the enclosing scope is closed or shutting down.
    public convenience init<Others: Sendable>(
        _ name: String,
        in outer: Scope<Level.Outer, Others>,
        objects: Objects
    ) throws(ScopeError) where Level: InnerLifetime {
        self.init(name, in: outer, limit: outer.limit, objects: objects)
        try outer.adopt(self)
    }

    /// Opens the outermost scope.
    ///
    /// - Parameters:
    ///   - name: The name that distinguishes the scope from others.
    ///   - limit: The time limit for the work in flight to end, and for each object to close. It also applies to inner scopes.
    ///   - make: Creates the objects, and registers those that need closing. If it throws, the objects registered so far are
    ///     closed before this method throws.
    /// - Returns: The scope, which the caller closes.
    /// - Throws: The error that `make` throws.
    public static func open<Failure: Error>(
        _ name: String,
        limit: ClosingLimit,
        making make: (inout ScopeOpening) async throws(Failure) -> Objects
    ) async throws(Failure) -> Scope where Level: OutermostLifetime {
        let scope = Scope(name, in: nil, limit: limit)
        var opening = ScopeOpening()
        do {
            let objects = try await make(&opening)
            scope.content.withLock { $0 = objects }
            _ = scope.state.withLock { $0.endOpening(succeeded: true, closers: opening.closers) }
            return scope
        } catch {
            await opening.abandon(limit: limit)
            throw error
        }
    }

    /// Opens a scope with objects that need closing.
    ///
    /// - Parameters:
    ///   - name: The name that distinguishes the scope from others of its lifetime.
    ///   - outer: The enclosing scope. Closing it closes this scope first.
    ///   - make: Creates the objects, and registers those that need closing. It receives the scope, for objects that refer to
    ///     it. The scope opens when `make` returns. If `make` throws, the registered objects are closed. If the enclosing scope
    ///     closes meanwhile, it waits for `make` up to its limit, and the registered objects are closed.
    /// - Returns: The scope, which the caller closes.
    /// - Throws: A ``ScopeError`` from `make`, or if the enclosing scope is closed or shutting down.
    public static func open<Others: Sendable>(
        _ name: String,
        in outer: Scope<Level.Outer, Others>,
        making make: (inout ScopeOpening, Scope) async throws(ScopeError) -> Objects
    ) async throws(ScopeError) -> Scope where Level: InnerLifetime {
        try await opened(name, in: outer, making: make).get()
    }

    /// Opens a scope, and returns an error of `make` instead of throwing it.
    ///
    /// - Returns: The scope, or the error that `make` throws.
    /// - Throws: A ``ScopeError`` if the enclosing scope is closed or shutting down.
    static func opened<Others: Sendable, Failure: Error>(
        _ name: String,
        in outer: Scope<Level.Outer, Others>,
        making make: (inout ScopeOpening, Scope) async throws(Failure) -> Objects
    ) async throws(ScopeError) -> Result<Scope, Failure> where Level: InnerLifetime {
        let scope = Scope(name, in: outer, limit: outer.limit)
        let work = TrackedWork()
        let place = scope.state.withLock { $0.begin(work) }
        try outer.adopt(scope)
        var opening = ScopeOpening()
        let made = await Result(awaiting: { () async throws(Failure) in try await make(&opening, scope) })
        let objects = try? made.get()
        scope.content.withLock { $0 = objects }
        let outcome = scope.state.withLock { state in
            defer { _ = state.end(place) }
            return state.endOpening(succeeded: objects != nil, closers: opening.closers)
        }
        work.finish()
        switch outcome {
        case .open: return .success(scope)
        case .closing(let task): _ = await task.value
        case .closed:
            scope.releaseContent()
            await opening.abandon(limit: outer.limit)
            outer.release(scope)
        }
        if case .failure(let error) = made { return .failure(error) }
        throw ScopeError(closed: scope.title)
    }

    /// The scope's lifetime and name on one line, such as `session ada`.
    public var title: String { "\(Level.name) \(name.visible)" }

    /// Whether you can use the scope: it is neither closed nor closing.
    public var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Whether you can open scopes in this one: it is open and not shutting down.
    public var isAcceptingWork: Bool { state.withLock { $0.isOpen && !$0.isShuttingDown } }

    /// Returns the objects of the scope.
    ///
    /// Call this method each time you use the objects. If you stored them elsewhere, they would outlive the scope.
    ///
    /// - Throws: A ``ScopeError`` if the scope is closed.
    @inlinable
    public func objects() throws(ScopeError) -> Objects {
        guard isOpen, let objects = content.withLock({ $0 }) else { throw closedError }
        return objects
    }

    @usableFromInline var closedError: ScopeError { ScopeError(closed: title) }

    /// Runs work with the scope's objects. Closing the scope cancels the work and waits until it has ended.
    ///
    /// ```swift
    /// let result = try await session.scope.run { _ in try await comments.entity(7) }
    /// print(try result.get().value.body)
    /// ```
    ///
    /// Cancelling the calling task also cancels the work. The work begins on the caller's thread, and nothing can cancel it before
    /// it suspends for the first time: call `Task.yield()` before long computations.
    ///
    /// - Returns: The result of the work, even if the scope cancelled it.
    /// - Throws: A ``ScopeError`` if the scope was closed before the work started, or if the work did not end in time when the
    ///   scope closed. ``ScopeError/workBegan`` tells these cases apart.
    @inlinable
    public func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable (Objects) async throws(Failure) -> Value
    ) async throws(ScopeError) -> Result<Value, Failure> {
        guard let result = try await run(by: { _ in nil }, work) else {
            // Not reached, because work without a deadline cannot miss it.
            throw ScopeError(closed: title, workBegan: true)
        }
        return result
    }

    /// Runs work with the scope's objects, as ``run(_:)`` does, and cancels it when a deadline passes. One task serves both.
    ///
    /// - Parameters:
    ///   - deadline: Returns the deadline, or `nil` for none. The task of the work carries it.
    ///   - work: The work.
    /// - Returns: The result of the work; `nil` if the deadline passed first.
    /// - Throws: A ``ScopeError``, as ``run(_:)`` does.
    @inlinable
    package func run<Value: Sendable, Failure: Error>(
        by deadline: (Objects) -> Deadline?,
        _ work: @escaping @Sendable (Objects) async throws(Failure) -> Value
    ) async throws(ScopeError) -> Result<Value, Failure>? {
        let running = TrackedWork()
        let place = try begin(running)
        guard let (task, deadline) = start(running, deadline: deadline, work) else {
            // The scope has closed without waiting for the work.
            end(place)
            running.finish()
            throw closedError
        }
        let result: Result<Value, Failure>?
        if running.cancels(task) {
            let disarm = deadline?.whenPassed { running.cancel() }
            result = await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
            disarm?()
        } else {
            // Fast path: work that needs only memory has ended by now.
            result = await task.value
        }
        // The task has released the objects. Ended first, because the scope may be closed as soon as the work is finished.
        let isInTime = end(place)
        running.finish()
        guard isInTime else { throw ScopeError(closed: title, workBegan: true) }
        return result
    }

    /// Starts work with the scope's objects, which only its task holds. Returns `nil` if the objects have been released.
    @inlinable
    func start<Value: Sendable, Failure: Error>(
        _ running: TrackedWork,
        deadline: (Objects) -> Deadline?,
        _ work: @escaping @Sendable (Objects) async throws(Failure) -> Value
    ) -> (task: Task<Result<Value, Failure>?, Never>, deadline: Deadline?)? {
        guard let objects = content.withLock({ $0 }) else { return nil }
        let deadline = deadline(objects)
        let isCancelled = Task.isCancelled
        // Unstructured, because the calling task, the scope and the deadline can cancel it. The calling task waits for it, and the
        // scope does not close before it has ended.
        let task = Task<Result<Value, Failure>?, Never>.startingHere(on: deadline?.executor) {
            // The task is not known yet to those who would cancel it. `unsafe`: it is used only while the closure runs.
            if isCancelled || running.isCancelled { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
            let result = await Self.result(of: work, with: objects, by: deadline)
            running.noteEnd()
            return result
        }
        return (task, deadline)
    }

    /// Returns the result of work, or `nil` if its deadline passed first.
    @inlinable
    static func result<Value: Sendable, Failure: Error>(
        of work: (Objects) async throws(Failure) -> Value,
        with objects: Objects,
        by deadline: Deadline?
    ) async -> Result<Value, Failure>? {
        guard let deadline else {
            return await Result(awaiting: { () async throws(Failure) in try await work(objects) })
        }
        guard !deadline.hasPassed else { return nil }
        let result = await deadline.carried { () async throws(Failure) in try await work(objects) }
        // The work may notice the deadline before it is cancelled, and end with an error that says less.
        return deadline.hasPassed ? nil : result
    }

    /// Closes the scope, or waits until it is closed if closing has already started.
    ///
    /// Work has ended when its caller has the result. Closing completes even if the calling task is cancelled. Work that does not
    /// end within the time limit, and objects that do not close within it, are cancelled and abandoned. Do not close a scope from
    /// within its own work: each would wait for the other until the limit passes.
    ///
    /// - Throws: A ``ScopeCloseError`` with all failures. The scope is closed nevertheless. Closing it again throws the same
    ///   error.
    public func close() async throws(ScopeCloseError) {
        if closeIfEmpty() { return }
        let failures = await startClosing().value
        if !failures.isEmpty { throw ScopeCloseError(failures: failures) }
    }

    /// Closes the scope at once if it has nothing to wait for.
    private func closeIfEmpty() -> Bool {
        guard state.withLock({ $0.closeIfEmpty() }) else { return false }
        releaseContent()
        outer?.release(self)
        return true
    }

    /// Releases the objects outside the lock, because their deinitializers run arbitrary code.
    private func releaseContent() {
        let objects = content.withLock { content in
            defer { content = nil }
            return content
        }
        withExtendedLifetime(objects) {}
    }
}

extension Scope: InnerScope {
    func startClosing() -> Task<[ScopeCloseError.Failure], Never> {
        state.withLock { state in
            state.startClosing {
                // Unstructured, because every call to `close()` waits for it, so it must outlive the first caller. Each of its
                // own waits has a limit.
                Deadline.lifted { Task { await self.closeEverything() } }
            }
        }
    }

    /// A snapshot of the scope for its description.
    var snapshot: (objects: Objects?, children: [any InnerScope], phase: String) {
        let (children, phase) = state.withLock { ($0.childrenNewestFirst, $0.phaseName) }
        return (content.withLock { $0 }, children.reversed(), phase)
    }

    private func closeEverything() async -> [ScopeCloseError.Failure] {
        for child in state.withLock({ $0.childrenNewestFirst }) {
            // Without a limit, because each wait inside the child has one, and cancelling it would leave parts of the child
            // open.
            note(await child.startClosing().value.map { $0.within(title) })
        }
        await endWork()
        for closer in state.withLock({ $0.closers }).reversed() {
            if let failure = await closer.failure(limit: limit) { note([failure.within(title)]) }
        }
        // Released outside the lock, because closers and objects run arbitrary code when they are released.
        _ = state.withLock { $0.close() }
        releaseContent()
        outer?.release(self)
        return state.withLock { $0.failures }
    }

    private func endWork() async {
        let work = state.withLock { $0.workNewestFirst }
        guard !work.isEmpty else { return }
        for task in work { task.cancel() }
        // Unstructured, because closing must not wait longer than the limit. It captures only the work.
        let ending = Task { for task in work { await task.end() } }
        if await limit.value(of: ending) == nil { note([.init(path: [title, "work in flight"], error: nil)]) }
    }

    var workInFlight: [WorkInFlight] {
        let (work, children) = state.withLock { ($0.workNewestFirst, $0.childrenNewestFirst) }
        return work.filter(\.isAwaited).map { WorkInFlight(scope: title, work: $0) } + children.flatMap(\.workInFlight)
    }

    /// Whether work is in flight in this scope itself.
    var hasWork: Bool { state.withLock { $0.hasWork } }

    /// Rejects new child scopes from now on. Open child scopes and work in flight are not affected.
    func stopAdopting() {
        state.withLock { $0.stopAdopting() }
    }

    /// Tracks a piece of work, so that closing the scope cancels it and waits for it.
    ///
    /// - Returns: The place of the work. Pass it to ``end(_:)`` when the work has ended.
    /// - Throws: A ``ScopeError`` if the scope is closed.
    @usableFromInline
    func begin(_ work: any RunningWork) throws(ScopeError) -> Int {
        let place = state.withLock { $0.isOpen ? $0.begin(work) : nil }
        guard let place else { throw closedError }
        return place
    }

    /// Sleeps for a duration, or until the scope closes. A graceful shutdown does not wait for the sleep to end.
    ///
    /// - Throws: A `CancellationError` if the task is cancelled.
    func idle(for duration: Duration, on timer: TimerService) async throws(CancellationError) {
        // Unstructured, because both the calling task and the scope can cancel it. The calling task waits for it below.
        let work = IdleWork(task: Task { try? await timer.sleep(for: duration) })
        guard let place = try? begin(work) else { return work.cancel() }
        await withTaskCancellationHandler {
            await work.end()
        } onCancel: {
            work.cancel()
        }
        end(place)
        if Task.isCancelled { throw CancellationError() }
    }

    /// Removes a piece of work that has ended. Returns `false` if the scope closed without waiting for it.
    @discardableResult
    @usableFromInline
    func end(_ place: Int) -> Bool {
        state.withLock { $0.end(place) }
    }

    private func note(_ failures: [ScopeCloseError.Failure]) {
        if !failures.isEmpty { state.withLock { $0.note(failures) } }
    }
}

extension Scope: OuterScope {
    func adopt(_ scope: any InnerScope) throws(ScopeError) {
        let (isAdopted, isShuttingDown) = state.withLock { ($0.adopt(scope), $0.isOpen && $0.isShuttingDown) }
        guard isAdopted else { throw isShuttingDown ? ScopeError(shuttingDown: title) : ScopeError(closed: title) }
    }

    func release(_ scope: any InnerScope) {
        state.withLock { $0.release(scope) }
    }
}

/// An error thrown when you use a scope that is closed or closing, or open a scope in one that is shutting down.
///
/// ```swift
/// do throws(ScopeError) {
///     print(try session.repositories)
/// } catch {
///     print("\(error).")  // session ada is closed.
/// }
/// ```
public struct ScopeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The scope's lifetime and name, such as `session ada`.
    public let scope: String

    /// Whether the work had started. If it had, its outcome is unknown.
    public let workBegan: Bool

    /// Whether the scope is still open, but is shutting down and accepts no new work.
    public let isShuttingDown: Bool

    @usableFromInline
    init(closed scope: String, workBegan: Bool = false) {
        self.scope = scope
        self.workBegan = workBegan
        isShuttingDown = false
    }

    init(shuttingDown scope: String) {
        self.scope = scope
        workBegan = false
        isShuttingDown = true
    }

    /// The scope and its state, as a sentence without a final period.
    public var description: String {
        "\(scope) is \(isShuttingDown ? "shutting down and accepts no new work" : "closed")"
    }
}

extension ScopeError: ProblemDetailsConvertible {
    /// The response with which a server reports the error.
    public var problemDetails: ProblemDetails { workBegan ? .outcomeUnknown : .unavailable }
}

/// An error with all failures that occurred while a scope was closed. The scope is closed nevertheless.
///
/// ```swift
/// do throws(ScopeCloseError) {
///     try await app.close()
/// } catch {
///     for failure in error.failures { print("\(failure).") }
/// }
/// ```
public struct ScopeCloseError: Error, Sendable, CustomStringConvertible {
    /// One failure.
    public struct Failure: Sendable, CustomStringConvertible {
        /// The path to the object that failed to close, from the outermost scope involved, such as `session ada > outbox`.
        public internal(set) var path: [String]
        /// The error that the object threw while it closed, or `nil` if it exceeded the time limit and was abandoned.
        public let error: (any Error)?

        /// The path and the reason, as a sentence without a final period.
        public var description: String {
            "\(path.joined(separator: " > ")) \(error.map { "failed to close: \($0)" } ?? "did not close in time")"
        }

        /// Returns this failure with the path prefixed by an enclosing scope.
        func within(_ scope: String) -> Self {
            var failure = self
            failure.path.insert(scope, at: 0)
            return failure
        }
    }

    /// All failures, in the order in which they occurred.
    public let failures: [Failure]

    /// The failures, each as a sentence.
    public var description: String { failures.map { "\($0)." }.joined(separator: " ") }
}
