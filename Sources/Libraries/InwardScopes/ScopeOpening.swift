public import InwardCore
import Synchronization

/// A list of the objects to close with a scope. You register them while the scope opens.
///
/// ```swift
/// actor Mailer {
///     func close() {}
/// }
///
/// let app = await AppScope("comments", configuration) { opening in
///     opening.closing(Mailer(), as: "mailer") { await $0.close() }
/// }
/// ```
public struct ScopeOpening: Sendable {
    /// How one object is closed.
    struct Closer: Sendable {
        let name: String
        /// Returns a closure that closes the object, or `nil` if there is nothing to close.
        let closing: @Sendable () -> (@Sendable () async throws -> Void)?

        /// Closes the object, and returns the failure, if any.
        func failure(limit: ClosingLimit) async -> ScopeCloseError.Failure? {
            guard let close = closing() else { return nil }
            // Unstructured, because closing must not wait longer than the limit, after which this task is cancelled.
            let closing = Task { () -> (any Error)? in
                do {
                    try await close()
                    return nil
                } catch {
                    return error
                }
            }
            guard let error = await limit.value(of: closing) else { return .init(path: [name], error: nil) }
            return error.map { .init(path: [name], error: $0) }
        }
    }

    private(set) var closers: [Closer] = []

    /// The handler that receives cleanup failures when opening the scope fails. If the handler is itself an object of the
    /// scope, register it first, so that it closes last.
    public var errorHandler: any ErrorHandler = IgnoringErrorHandler()

    /// Registers an object to close when the scope closes or fails to open. Objects registered later are closed first.
    ///
    /// - Parameters:
    ///   - object: The object to close.
    ///   - name: The object's name in failures.
    ///   - close: Closes the object. It is cancelled when it exceeds the time limit.
    /// - Returns: The object.
    public mutating func closing<Object: Sendable>(
        _ object: Object,
        as name: String,
        by close: @escaping @Sendable (Object) async throws -> Void
    ) -> Object {
        closers.append(Closer(name: name) { { try await close(object) } })
        return object
    }

    /// Registers an object that is created when it is first used. If it was used, it is closed with the scope. Objects
    /// registered later are closed first.
    ///
    /// - Parameters:
    ///   - name: The object's name in failures.
    ///   - make: Creates the object. It must not call ``OnFirstUse/object()`` of the same object, which would deadlock.
    ///   - close: Closes the object, or `nil` if it needs no closing. It is cancelled when it exceeds the time limit.
    /// - Returns: A reference through which you create and use the object.
    public mutating func onFirstUse<Object: Sendable>(
        as name: String,
        making make: @escaping @Sendable () throws(ScopeError) -> Object,
        closing close: (@Sendable (Object) async throws -> Void)? = nil
    ) -> OnFirstUse<Object> {
        let object = OnFirstUse(name, making: make)
        closers.append(
            Closer(name: name) {
                guard let created = object.end(), let close else { return nil }
                return { try await close(created) }
            }
        )
        return object
    }

    /// Starts work that runs in the background until the scope closes or fails to open.
    ///
    /// ```swift
    /// let app = await AppScope("comments", configuration) { opening in
    ///     opening.running("polling") {
    ///         while !Task.isCancelled { try? await Task.sleep(for: .seconds(60)) }
    ///     }
    /// }
    /// ```
    ///
    /// Objects that are registered later are closed before the work ends, so register first what the work uses.
    ///
    /// - Parameters:
    ///   - name: The name of the work in failures.
    ///   - executor: The executor of the work, or `nil` for the default.
    ///   - work: The work. It must end when its task is cancelled.
    public mutating func running(
        _ name: String,
        executor: (any TaskExecutor)? = nil,
        _ work: @escaping @Sendable () async -> Void
    ) {
        // Unstructured, because the scope outlives the call that opens it, and the deadline of that call. Closing the scope cancels
        // the task, and waits for it.
        let task = InteractionID.lifted { Deadline.lifted { Task.starting(on: executor) { await work() } } }
        closers.append(
            Closer(name: name) {
                {
                    task.cancel()
                    await task.value
                }
            }
        )
    }

    /// Closes the objects registered so far, the newest first.
    func abandon(limit: ClosingLimit) async {
        for closer in closers.reversed() {
            if let failure = await closer.failure(limit: limit) {
                errorHandler.handle(ScopeCloseError(failures: [failure]))
            }
        }
    }
}

/// A time limit for the work in flight to end and for each object to close when a scope closes.
///
/// ```swift
/// let limit = ClosingLimit(.seconds(5), on: ContinuousClock())
/// ```
public struct ClosingLimit: Sendable {
    let duration: Duration
    let clock: any Clock<Duration>

    /// Creates a limit for the work in flight, and for each object, measured by a clock.
    public init(_ duration: Duration, on clock: any Clock<Duration>) {
        self.duration = duration
        self.clock = clock
    }

    /// Waits for a task. Cancels it when the limit passes, or when the waiting task is cancelled.
    ///
    /// - Returns: The task's value, or `nil` if this method cancelled the task, which may then still be running.
    func value<Value: Sendable>(of task: Task<Value, Never>) async -> Value? {
        let (events, report) = AsyncStream.makeStream(of: Value?.self)
        // Unstructured, because a group would wait for both tasks. The first ends when `task` does, and captures nothing else.
        // The alarm is cancelled and awaited below.
        Task { report.yield(await task.value) }
        let alarm = Task {
            try? await clock.sleep(for: duration)
            report.yield(nil)
        }
        // `nil` if the waiting task is cancelled.
        let first = await events.first { _ in true } ?? nil
        if first == nil { task.cancel() }
        alarm.cancel()
        await alarm.value
        return first
    }
}

/// An object of a scope that is created when it is first used, and closed with the scope only if it was created.
///
/// ```swift
/// actor Mailer {
///     func close() {}
/// }
///
/// let app = await AppScope("comments", configuration) { opening in
///     opening.onFirstUse(as: "mailer") { Mailer() } closing: { await $0.close() }
/// }
/// let mailer = try app.own.object()
/// ```
///
/// Use it for objects that may never be needed, such as an image codec in a service that rarely shows images. Register it with
/// ``ScopeOpening/onFirstUse(as:making:closing:)``.
public final class OnFirstUse<Object: Sendable>: Sendable {
    private enum State {
        case unused(make: @Sendable () throws(ScopeError) -> Object)
        case created(Object)
        case closed
    }

    private let name: String
    private let state: Mutex<State>

    init(_ name: String, making make: @escaping @Sendable () throws(ScopeError) -> Object) {
        self.name = name
        state = Mutex(.unused(make: make))
    }

    /// Returns the object, and creates it if this is its first use.
    ///
    /// Concurrent first uses wait for one creation.
    ///
    /// - Returns: The object. Every call returns the same one.
    /// - Throws: A ``ScopeError`` if the scope is closed, or the error of the closure that creates the object. After a failed
    ///   creation, the next use tries again.
    public func object() throws(ScopeError) -> Object {
        try state.withLock { state throws(ScopeError) in
            switch state {
            case .created(let object): return object
            case .closed: throw ScopeError(closed: name)
            case .unused(let make):
                let object = try make()
                state = .created(object)
                return object
            }
        }
    }

    /// Prevents the creation of the object from now on. Returns the object if it was already created.
    func end() -> Object? {
        state.withLock { state in
            defer { state = .closed }
            return if case .created(let object) = state { object } else { nil }
        }
    }
}

extension OnFirstUse: DescribedOnFirstUse {
    var created: Any? { state.withLock { if case .created(let object) = $0 { object } else { nil } } }

    var typeName: String { "\(Object.self)" }
}

/// An object that may not exist yet, for the description of its scope.
protocol DescribedOnFirstUse {
    /// The object, or `nil` if it was never used.
    var created: Any? { get }
    /// The name of the object's type.
    var typeName: String { get }
}
