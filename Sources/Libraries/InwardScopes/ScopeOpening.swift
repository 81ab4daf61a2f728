public import InwardCore

/// A scope that is being opened: what is made for it, and how that is closed.
public struct ScopeOpening: Sendable {
    /// How one object is closed.
    struct Closer: Sendable {
        let name: String
        let close: @Sendable () async throws -> Void

        /// Closes the object, and gives what went wrong.
        func failure(limit: ClosingLimit) async -> ScopeCloseError.Failure? {
            // Unstructured, because who closes must not wait longer than the limit: it is cancelled then.
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

    /// Receives cleanup failures when opening a scope fails: before it is itself closed, if it was made for that scope.
    public var errorHandler: any ErrorHandler = IgnoringErrorHandler()

    /// Has an object closed when the scope is, or when it cannot be opened: after every object that is made later.
    ///
    /// - Parameters:
    ///   - object: What is closed.
    ///   - name: What it is called where closing it fails.
    ///   - close: Closes it. It is cancelled when it takes too long.
    /// - Returns: the object.
    public mutating func closing<Object: Sendable>(
        _ object: Object,
        as name: String,
        by close: @escaping @Sendable (Object) async throws -> Void
    ) -> Object {
        closers.append(Closer(name: name) { try await close(object) })
        return object
    }

    /// Closes what has been made so far, the newest first.
    func abandon(limit: ClosingLimit) async {
        for closer in closers.reversed() {
            if let failure = await closer.failure(limit: limit) {
                errorHandler.handle(ScopeCloseError(failures: [failure]))
            }
        }
    }
}

/// The opening of a scope, as work of the scope: it cannot be cancelled, and closing the scope waits for its end.
struct OpeningWork: RunningWork {
    private let ending: AsyncStream<Void>
    private let report: AsyncStream<Void>.Continuation

    init() {
        (ending, report) = AsyncStream.makeStream()
    }

    /// Resumes the waiters.
    func finish() {
        report.finish()
    }

    func cancel() {}

    func end() async {
        for await _ in ending {}
    }
}

/// How long each thing that a scope closes may take.
public struct ClosingLimit: Sendable {
    let duration: Duration
    let clock: any Clock<Duration>

    /// Gives each child, each piece of work and each object so much time, on a clock.
    public init(_ duration: Duration, on clock: any Clock<Duration>) {
        self.duration = duration
        self.clock = clock
    }

    /// Waits for a task, and cancels it when its time is up, or when the task that waits is cancelled.
    ///
    /// - Returns: what the task gave; `nil` if it was cancelled. It may go on for a while then, without being awaited.
    func value<Value: Sendable>(of task: Task<Value, Never>) async -> Value? {
        let (events, report) = AsyncStream.makeStream(of: Value?.self)
        // Unstructured, because a group would wait for both: this one ends when `task` does and holds nothing else, and the
        // other is ended below.
        Task { report.yield(await task.value) }
        let alarm = Task {
            try? await clock.sleep(for: duration)
            report.yield(nil)
        }
        // A task that is cancelled gets no event.
        let first = await events.first { _ in true } ?? nil
        if first == nil { task.cancel() }
        alarm.cancel()
        await alarm.value
        return first
    }
}
