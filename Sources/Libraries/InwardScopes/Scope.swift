import InwardCore
import Synchronization

/// Holds the objects of one lifetime, and ends all of it at once.
///
/// A container is a value around a scope: it says what the objects are and makes what is fresh from them. The scope does
/// what is the same for all containers: it closes its children before itself, the newest first, then cancels and awaits the
/// work in flight, then closes its objects in the reverse of the order they were made in, and lets go of them all. Afterwards
/// every use is a ``ScopeError``. Each piece of work and each object has a limit of time to end.
///
/// Used from many tasks at once. A scope is kept by the one around it until it is closed, so close what you open.
public final class Scope<Level: Lifetime, Objects: Sendable>: Sendable {
    /// What tells this scope from others of its lifetime.
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
    ///   - name: What tells it from others of its lifetime.
    ///   - outer: The scope around it, which closes this one before itself.
    ///   - objects: What it holds.
    /// - Throws: a ``ScopeError`` if the scope around it is closed.
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
    ///   - name: What tells it from others.
    ///   - limit: How long each thing may take that is closed, here and in every scope inside.
    ///   - make: Makes the objects, and says how those are closed that need it. What it had said when it throws is closed
    ///     before this function does.
    /// - Returns: the scope, which the caller closes.
    /// - Throws: what `make` throws.
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

    /// Opens a scope some of whose objects are to be closed with it.
    ///
    /// - Parameters:
    ///   - name: What tells it from others of its lifetime.
    ///   - outer: The scope around it, which closes this one before itself.
    ///   - make: Makes the objects, and says how those are closed that need it. What it had said is closed if it throws, and
    ///     if the scope around is closed meanwhile, which waits for it. It is given the scope, for objects that refer to it;
    ///     the scope is open once they are all made.
    /// - Returns: the scope, which the caller closes.
    /// - Throws: a ``ScopeError``.
    public static func open<Others: Sendable>(
        _ name: String,
        in outer: Scope<Level.Outer, Others>,
        making make: (inout ScopeOpening, Scope) async throws(ScopeError) -> Objects
    ) async throws(ScopeError) -> Scope where Level: InnerLifetime {
        let scope = Scope(name, in: outer, limit: outer.limit)
        let work = OpeningWork()
        let place = scope.state.withLock { $0.begin(work) }
        try outer.adopt(scope)
        var opening = ScopeOpening()
        let made = await Result(awaiting: { () async throws(ScopeError) in try await make(&opening, scope) })
        let outcome = scope.state.withLock { state in
            defer { _ = state.end(place) }
            return state.endOpening(try? made.get(), closers: opening.closers)
        }
        work.finish()
        switch outcome {
        case .open: return scope
        case .closing(let task): _ = await task.value
        case .closed:
            await opening.abandon(limit: outer.limit)
            outer.release(scope)
        }
        _ = try made.get()
        throw ScopeError(closed: scope.title)
    }

    /// The scope by its lifetime and name, such as `user ada`, in one line whatever the name.
    public var title: String { "\(Level.name) \(name.visible)" }

    /// Whether the scope can be used: it is neither closed nor being closed.
    public var isOpen: Bool { state.withLock(\.isOpen) }

    /// The objects of the scope. Who keeps them keeps them alive, so ask for them where they are used.
    ///
    /// - Throws: a ``ScopeError`` if the scope is closed.
    public func objects() throws(ScopeError) -> Objects {
        guard let objects = state.withLock(\.openObjects) else { throw ScopeError(closed: title) }
        return objects
    }

    /// Does a piece of work with the objects, as work of this scope: closing it cancels the work and waits for its end.
    ///
    /// The work is cancelled with the task that asks for it, too.
    ///
    /// - Returns: how the work ended, also if it was cancelled by the scope.
    /// - Throws: a ``ScopeError`` if the scope is closed, and the work did not begin; or if the work took so long to end that
    ///   the scope was closed without it.
    public func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable (Objects) async throws(Failure) -> Value
    ) async throws(ScopeError) -> Result<Value, Failure> {
        let begun = state.withLock { state -> (place: Int, task: Task<Result<Value, Failure>, Never>)? in
            guard let objects = state.openObjects else { return nil }
            // Unstructured, because it is cancelled by two: by the task that asks, which waits for it below, and by the
            // scope, which knows it from this moment on and does not close before it has ended.
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

    /// Closes the scope, or waits until it is closed if that has begun.
    ///
    /// It is closed to the end even if the task that asked is cancelled. What takes longer than its limit is cancelled and left
    /// behind, so do not wait for the close of a scope in work of its own: the two would wait for one another until then.
    ///
    /// - Throws: a ``ScopeCloseError`` with all that went wrong. The scope is closed all the same; closing it again
    ///   throws the same error.
    public func close() async throws(ScopeCloseError) {
        if closeIfEmpty() { return }
        let failures = await startClosing().value
        if !failures.isEmpty { throw ScopeCloseError(failures: failures) }
    }

    /// Closes the scope at once if there is nothing to wait for.
    private func closeIfEmpty() -> Bool {
        // The objects end here and not within the lock, because what their end does is not known.
        guard state.withLock({ $0.closeIfEmpty() }) != nil else { return false }
        outer?.release(self)
        return true
    }
}

extension Scope: InnerScope {
    func startClosing() -> Task<[ScopeCloseError.Failure], Never> {
        state.withLock { state in
            state.startClosing {
                // Unstructured, because it must not end with the task that asks first: every close waits for it, and each
                // of its own waits has a limit.
                Deadline.lifted { Task { await self.closeEverything() } }
            }
        }
    }

    /// What there is to describe, all of it as it is at one moment.
    var snapshot: (objects: Objects?, children: [any InnerScope], phase: String) {
        state.withLock { ($0.remainingObjects, $0.childrenNewestFirst.reversed(), $0.phaseName) }
    }

    private func closeEverything() async -> [ScopeCloseError.Failure] {
        for child in state.withLock(\.childrenNewestFirst) {
            // Without a limit: each of its own waits has one, and to cancel it would leave the rest of it open.
            note(await child.startClosing().value.map { $0.within(title) })
        }
        await endWork()
        for closer in state.withLock(\.closers).reversed() {
            if let failure = await closer.failure(limit: limit) { note([failure.within(title)]) }
        }
        // The objects end here and not within the lock, because what their end does is not known.
        _ = state.withLock { $0.close() }
        outer?.release(self)
        return state.withLock(\.failures)
    }

    private func endWork() async {
        let work = state.withLock(\.workNewestFirst)
        guard !work.isEmpty else { return }
        for task in work { task.cancel() }
        // Unstructured, because who closes must not wait longer than the limit. It holds the work and nothing else.
        let ending = Task { for task in work { await task.end() } }
        if await limit.value(of: ending) == nil { note([.init(path: [title, "work in flight"], error: nil)]) }
    }

    private func note(_ failures: [ScopeCloseError.Failure]) {
        if !failures.isEmpty { state.withLock { $0.note(failures) } }
    }
}

extension Scope: OuterScope {
    func adopt(_ scope: any InnerScope) throws(ScopeError) {
        guard state.withLock({ $0.adopt(scope) }) else { throw ScopeError(closed: title) }
    }

    func release(_ scope: any InnerScope) {
        state.withLock { $0.release(scope) }
    }
}

/// Something was asked of a scope that is closed, or is being closed.
public struct ScopeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The scope, by its lifetime and name, such as `user ada`.
    public let scope: String

    /// Whether work had begun, so that nobody knows what has become of it.
    public let workBegan: Bool

    init(closed scope: String, workBegan: Bool = false) {
        self.scope = scope
        self.workBegan = workBegan
    }

    /// Which scope it is, as a sentence without its full stop.
    public var description: String { "\(scope) is closed" }
}

/// What went wrong while a scope was closed. It is closed all the same.
public struct ScopeCloseError: Error, Sendable, CustomStringConvertible {
    /// One thing that went wrong.
    public struct Failure: Sendable, CustomStringConvertible {
        /// What was being closed, from the outermost scope that was closed on the way there, such as `user ada > outbox`.
        public internal(set) var path: [String]
        /// Why it did not close as it should; `nil` if it took longer than it was given, and was given up.
        public let error: (any Error)?

        /// Where and why, as a sentence without its full stop.
        public var description: String {
            "\(path.joined(separator: " > ")) \(error.map { "failed to close: \($0)" } ?? "did not close in time")"
        }

        /// This failure as it is seen from a scope around.
        func within(_ scope: String) -> Self {
            var failure = self
            failure.path.insert(scope, at: 0)
            return failure
        }
    }

    /// All that went wrong, in the order it did.
    public let failures: [Failure]

    /// The failures, each as a sentence.
    public var description: String { failures.map { "\($0)." }.joined(separator: " ") }
}
