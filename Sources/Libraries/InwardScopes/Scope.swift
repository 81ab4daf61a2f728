import InwardCore
public import InwardFetching
import Synchronization

/// Owns the objects of one lifetime, and closes all of them together.
///
/// A container wraps a scope: the container defines the objects, and the scope manages their lifetime. Closing a scope proceeds
/// in this order:
///
/// - It closes its child scopes, the newest first.
/// - It cancels the work in flight and waits until it has ended.
/// - It closes its objects in the reverse order of their creation, and releases them all.
///
/// The work in flight and each object have a time limit to end. After closing, every use throws a ``ScopeError``.
///
///     let app = await Scope<AppLifetime, AppObjects>.open("app", limit: limit) { opening in
///         AppObjects(cache: opening.closing(Cache(), as: "cache") { await $0.close() })
///     }
///     let session = try Scope<SessionLifetime, SessionObjects>("ada", in: app, objects: SessionObjects())
///     try await app.close()
///
/// You can use a scope from several tasks concurrently. The enclosing scope retains a scope until it is closed, so close every
/// scope you open.
public final class Scope<Level: Lifetime, Objects: Sendable>: Sendable {
    /// The name that distinguishes this scope from others of its lifetime.
    public let name: String
    let limit: ClosingLimit
    private let outer: (any OuterScope)?
    private let state: Mutex<ScopeState<Objects>>

    private init(_ name: String, in outer: (any OuterScope)?, limit: ClosingLimit, objects: Objects? = nil) {
        self.name = name
        self.outer = outer
        self.limit = limit
        state = Mutex(ScopeState(objects: objects))
    }

    /// Opens a scope whose objects need no closing.
    ///
    /// - Parameters:
    ///   - name: The name that distinguishes the scope from others of its lifetime.
    ///   - outer: The enclosing scope, which closes this one before itself.
    ///   - objects: The scope's objects.
    /// - Throws: a ``ScopeError`` if the enclosing scope is closed.
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
    ///   - limit: How long the work in flight, and each object, may take to end, in this scope and in all scopes inside.
    ///   - make: Creates the objects, and registers those that need closing. If it throws, the objects registered so far are
    ///     closed before this method throws.
    /// - Returns: the scope, which the caller closes.
    /// - Throws: the error that `make` throws.
    public static func open<Failure: Error>(
        _ name: String,
        limit: ClosingLimit,
        making make: (inout ScopeOpening) async throws(Failure) -> Objects
    ) async throws(Failure) -> Scope where Level: OutermostLifetime {
        let scope = Scope(name, in: nil, limit: limit)
        var opening = ScopeOpening()
        do {
            let objects = try await make(&opening)
            _ = scope.state.withLock { $0.endOpening(objects, closers: opening.closers) }
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
    ///   - outer: The enclosing scope, which closes this one before itself.
    ///   - make: Creates the objects, and registers those that need closing. It receives the scope, for objects that refer to
    ///     it; the scope opens once all objects exist. If `make` throws, or if the enclosing scope closes meanwhile, the
    ///     registered objects are closed. Closing the enclosing scope waits for `make`.
    /// - Returns: the scope, which the caller closes.
    /// - Throws: a ``ScopeError`` from `make`, or if the enclosing scope is closed.
    public static func open<Others: Sendable>(
        _ name: String,
        in outer: Scope<Level.Outer, Others>,
        making make: (inout ScopeOpening, Scope) async throws(ScopeError) -> Objects
    ) async throws(ScopeError) -> Scope where Level: InnerLifetime {
        try await opened(name, in: outer, making: make).get()
    }

    /// Opens a scope whose objects may be impossible to create.
    ///
    /// - Returns: the scope, or the error that `make` throws.
    /// - Throws: a ``ScopeError`` if the enclosing scope is closed.
    static func opened<Others: Sendable, Failure: Error>(
        _ name: String,
        in outer: Scope<Level.Outer, Others>,
        making make: (inout ScopeOpening, Scope) async throws(Failure) -> Objects
    ) async throws(ScopeError) -> Result<Scope, Failure> where Level: InnerLifetime {
        let scope = Scope(name, in: outer, limit: outer.limit)
        let work = UncancellableWork()
        let place = scope.state.withLock { $0.begin(work) }
        try outer.adopt(scope)
        var opening = ScopeOpening()
        let made = await Result(awaiting: { () async throws(Failure) in try await make(&opening, scope) })
        let outcome = scope.state.withLock { state in
            defer { _ = state.end(place) }
            return state.endOpening(try? made.get(), closers: opening.closers)
        }
        work.finish()
        switch outcome {
        case .open: return .success(scope)
        case .closing(let task): _ = await task.value
        case .closed:
            await opening.abandon(limit: outer.limit)
            outer.release(scope)
        }
        if case .failure(let error) = made { return .failure(error) }
        throw ScopeError(closed: scope.title)
    }

    /// The scope's lifetime and name on one line, such as `session ada`.
    public var title: String { "\(Level.name) \(name.visible)" }

    /// Whether the scope can be used, that is, it is neither closed nor closing.
    public var isOpen: Bool { state.withLock(\.isOpen) }

    /// Whether new scopes can be opened in this one, that is, it is open and not about to be closed.
    public var isAcceptingWork: Bool { state.withLock { $0.isOpen && !$0.isShuttingDown } }

    /// Returns the objects of the scope. Retaining them keeps them alive after the scope closes, so request them where you use
    /// them.
    ///
    /// - Throws: a ``ScopeError`` if the scope is closed.
    public func objects() throws(ScopeError) -> Objects {
        guard let objects = state.withLock(\.openObjects) else { throw ScopeError(closed: title) }
        return objects
    }

    /// Runs work with the scope's objects. Closing the scope cancels the work and waits until it has ended.
    ///
    /// Cancelling the calling task also cancels the work.
    ///
    ///     let result = try await scope.run { objects in await objects.cache.count }
    ///
    /// - Returns: the result of the work, even if the scope cancelled it.
    /// - Throws: a ``ScopeError`` if the scope is closed and the work did not start, or if the work took so long to end that
    ///   the scope closed without it.
    public func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable (Objects) async throws(Failure) -> Value
    ) async throws(ScopeError) -> Result<Value, Failure> {
        let begun = state.withLock { state -> (place: Int, task: Task<Result<Value, Failure>, Never>)? in
            guard let objects = state.openObjects else { return nil }
            // Unstructured, because two parties can cancel it: the calling task, which waits for it below, and the scope, which
            // tracks it from here on and waits until it has ended before it closes.
            let task = Task { await Result(awaiting: { () async throws(Failure) in try await work(objects) }) }
            return (state.begin(task), task)
        }
        guard let (place, task) = begun else { throw ScopeError(closed: title) }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        guard state.withLock({ $0.end(place) }) else { throw ScopeError(closed: title, workBegan: true) }
        return result
    }

    /// Closes the scope, or waits until it is closed if closing has already started.
    ///
    /// Closing completes even if the calling task is cancelled. Anything that exceeds its time limit is cancelled and
    /// abandoned. Do not close a scope from within its own work: each would wait for the other until the limit passes.
    ///
    /// - Throws: a ``ScopeCloseError`` with all failures. The scope is closed nevertheless; closing it again throws the same
    ///   error.
    public func close() async throws(ScopeCloseError) {
        if closeIfEmpty() { return }
        let failures = await startClosing().value
        if !failures.isEmpty { throw ScopeCloseError(failures: failures) }
    }

    /// Closes the scope at once if it has nothing to wait for.
    private func closeIfEmpty() -> Bool {
        // The objects are released outside of the lock, because their deinitializers run arbitrary code.
        guard state.withLock({ $0.closeIfEmpty() }) != nil else { return false }
        outer?.release(self)
        return true
    }
}

extension Scope: InnerScope {
    func startClosing() -> Task<[ScopeCloseError.Failure], Never> {
        state.withLock { state in
            state.startClosing {
                // Unstructured, because it must outlive the first task that closes the scope: every call to close waits for it.
                // Each of its own waits has a limit.
                Deadline.lifted { Task { await self.closeEverything() } }
            }
        }
    }

    /// A consistent snapshot of the scope for its description.
    var snapshot: (objects: Objects?, children: [any InnerScope], phase: String) {
        state.withLock { ($0.remainingObjects, $0.childrenNewestFirst.reversed(), $0.phaseName) }
    }

    private func closeEverything() async -> [ScopeCloseError.Failure] {
        for child in state.withLock(\.childrenNewestFirst) {
            // No limit here: each wait inside the child has one, and cancelling it would leave parts of the child open.
            note(await child.startClosing().value.map { $0.within(title) })
        }
        await endWork()
        for closer in state.withLock(\.closers).reversed() {
            if let failure = await closer.failure(limit: limit) { note([failure.within(title)]) }
        }
        // The objects are released outside of the lock, because their deinitializers run arbitrary code.
        _ = state.withLock { $0.close() }
        outer?.release(self)
        return state.withLock(\.failures)
    }

    private func endWork() async {
        let work = state.withLock(\.workNewestFirst)
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
    var hasWork: Bool { state.withLock(\.hasWork) }

    /// Refuses new child scopes from now on. Those that are open stay open, and work goes on.
    func stopAdopting() {
        state.withLock { $0.stopAdopting() }
    }

    /// Adds a piece of work that ends by ``end(_:)``. Closing the scope waits for it.
    ///
    /// - Returns: the place of the work, to end it.
    /// - Throws: a ``ScopeError`` if the scope is closed.
    func begin(_ work: any RunningWork) throws(ScopeError) -> Int {
        let place = state.withLock { $0.isOpen ? $0.begin(work) : nil }
        guard let place else { throw ScopeError(closed: title) }
        return place
    }

    /// Waits for a duration, or until the scope closes. Shutting down does not wait for it.
    ///
    /// - Throws: a `CancellationError` if the task is cancelled.
    func idle(for duration: Duration, on timer: TimerService) async throws(CancellationError) {
        // Unstructured, because two parties can cancel it: the calling task, which waits for it below, and the scope.
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

    /// Removes a piece of work that has ended.
    func end(_ place: Int) {
        _ = state.withLock { $0.end(place) }
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

/// An error thrown when a closed or closing scope is used, or when one that is shutting down is asked for new work.
public struct ScopeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The scope's lifetime and name, such as `session ada`.
    public let scope: String

    /// Whether work had started, so that its outcome is unknown.
    public let workBegan: Bool

    /// Whether the scope is open and about to be closed, so that it accepts no new work.
    public let isShuttingDown: Bool

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

    /// The scope and its state, as a sentence without its full stop.
    public var description: String {
        "\(scope) is \(isShuttingDown ? "shutting down and accepts no new work" : "closed")"
    }
}

extension ScopeError: ProblemDetailsConvertible {
    /// The response of a server that shows the error.
    public var problemDetails: ProblemDetails { workBegan ? .outcomeUnknown : .unavailable }
}

/// The failures while a scope was closed. The scope is closed nevertheless.
public struct ScopeCloseError: Error, Sendable, CustomStringConvertible {
    /// One failure.
    public struct Failure: Sendable, CustomStringConvertible {
        /// The path to what was being closed, from the outermost scope involved, such as `session ada > outbox`.
        public internal(set) var path: [String]
        /// The error thrown; `nil` if closing exceeded its time limit and was abandoned.
        public let error: (any Error)?

        /// The path and the reason, as a sentence without its full stop.
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

    /// All failures, in the order they occurred.
    public let failures: [Failure]

    /// The failures, each as a sentence.
    public var description: String { failures.map { "\($0)." }.joined(separator: " ") }
}

/// Wires the objects of one scope: it holds shared objects and creates new ones.
///
/// A container is a value that wraps a scope. Copies share the scope.
///
///     struct AppContainer: Container {
///         struct Objects: Sendable { let cache: Cache }
///         let scope: Scope<AppLifetime, Objects>
///
///         var cache: Cache {
///             get throws(ScopeError) { try scope.objects().cache }
///         }
///     }
public protocol Container: Sendable, CustomStringConvertible {
    /// The lifetime of its objects.
    associatedtype Level: Lifetime
    /// The shared objects, each in a stored property.
    associatedtype Objects: Sendable

    /// The scope that owns the objects.
    var scope: Scope<Level, Objects> { get }
}

extension Container {
    /// Whether the container can be used, that is, it is neither closed nor closing.
    public var isOpen: Bool { scope.isOpen }

    /// Closes all containers created from this one, and then its own objects. See ``Scope/close()``.
    ///
    /// - Throws: a ``ScopeCloseError`` with all failures. The container is closed nevertheless.
    public func close() async throws(ScopeCloseError) {
        try await scope.close()
    }

    /// The tree of the container: its objects with their references, and the containers created from it.
    public var description: String { scope.description }
}

/// The lifetime of the objects in a scope. Lifetimes are nested, and the compiler checks the nesting.
///
///     enum AppLifetime: OutermostLifetime { static let name = "app" }
///
///     enum UserLifetime: InnerLifetime {
///         typealias Outer = AppLifetime
///         static let name = "user"
///     }
public protocol Lifetime: Sendable {
    /// The name of the lifetime in titles and descriptions.
    static var name: String { get }
}

/// A lifetime nested in another.
public protocol InnerLifetime: Lifetime {
    /// The enclosing lifetime.
    associatedtype Outer: Lifetime
}

/// A lifetime that is not nested in another.
public protocol OutermostLifetime: Lifetime {}
