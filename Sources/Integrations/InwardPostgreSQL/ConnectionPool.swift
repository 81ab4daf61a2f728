#if PostgreSQL
import Foundation
import InwardRepositories
import Synchronization

/// A bounded number of connections. Each has a thread of its own, which may block on the network.
///
/// A connection is made for work that finds no free one. While the server cannot be reached, work waits for a limited time, and
/// tries again at growing intervals.
final class ConnectionPool: Sendable {
    /// Work for a connection, or for nothing if no connection can be made.
    typealias Work = @Sendable (ServerConnection?) -> Void

    /// What threads share. They do not keep the pool itself, so that releasing it ends them.
    private final class Shared: Sendable {
        let settings: PoolSettings
        let state = Mutex(PoolState())

        init(_ settings: PoolSettings) {
            self.settings = settings
        }
    }

    private let shared: Shared

    /// Creates a pool without connections.
    init(_ settings: PoolSettings) {
        shared = Shared(settings)
    }

    deinit { close() }

    /// Ends the threads after the work that is waiting. Later work fails as closed.
    func close() {
        let workers = shared.state.withLock { state in
            state.isClosed = true
            return state.workers
        }
        for worker in workers.values { worker.send() }
    }

    /// Reads on a connection. The task stops waiting when it is cancelled or its deadline passes, and the statement is then
    /// cancelled, too.
    ///
    /// - Throws: A `RecordStoreError` if the server refuses the statements or cannot be reached.
    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (ServerConnection, Duration) throws(ServerError) -> Answer
    ) async throws(RecordStoreError) -> Answer {
        try await run(untilItsEnd: false, body)
    }

    /// Writes on a connection. Once the connection is made, the task waits until the work has ended.
    ///
    /// - Throws: A `RecordStoreError` if the server refuses the statements or cannot be reached.
    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (ServerConnection, Duration) throws(ServerError) -> Answer
    ) async throws(RecordStoreError) -> Answer {
        try await run(untilItsEnd: true, body)
    }

    private func run<Answer: Sendable>(
        untilItsEnd isCompleted: Bool,
        _ body: @escaping @Sendable (ServerConnection, Duration) throws(ServerError) -> Answer
    ) async throws(RecordStoreError) -> Answer {
        let waker = Waker()
        let wait = RecordWait<Answer>(whenLeft: { waker.wake() })
        let settings = shared.settings
        return try await wait.value {
            // The time in the queue counts.
            let end = ContinuousClock.now + settings.timeLimit
            let connecting = ConnectionWait(for: settings.reachability, limit: settings.connectionTimeLimit) { error in
                wait.end(.failure(RecordStoreError(error, at: "PostgreSQL", limit: settings.timeLimit)))
            }
            let isAccepted = perform { connection in
                guard let connection else { return wait.end(.failure(Self.exhausted)) }
                // From here on, a task that stops waiting interrupts the connection.
                waker.set(connection.interruption)
                defer { waker.set(nil) }
                guard wait.isWaiting else { return }
                let hasBegun = Mutex(false)
                let outcome = settings.attempt(
                    on: connection,
                    until: end,
                    while: { hasBegun.withLock(\.self) || wait.isWaiting },
                    isBegun: { hasBegun.withLock(\.self) }
                ) { connection, limit throws(ServerError) in
                    guard connecting.end() else { throw .interrupted }
                    if isCompleted, !hasBegun.withLock(\.self) {
                        // A task that has stopped waiting has ended the wait, so this error reaches nobody.
                        guard wait.begin() else { throw .interrupted }
                        hasBegun.withLock { $0 = true }
                    }
                    return try body(connection, limit)
                }
                wait.end(outcome)
            }
            if !isAccepted { wait.end(.failure(Self.closed)) }
        }
    }

    /// Lets a connection do work after what is waiting, without a task that waits for it.
    ///
    /// - Returns: `false` if the pool is closed. Then the work is not done.
    @discardableResult
    func perform(_ work: @escaping Work) -> Bool {
        let shared = shared
        let (isClosed, idle, new) = shared.state.withLock { state in state.add(work, shared.settings.connectionLimit) }
        guard !isClosed else { return false }
        idle?.send()
        if let new { Self.start(new, shared) }
        return true
    }

    /// Executes a statement on a connection, which is made if necessary, without a task that waits for it. Then calls a closure,
    /// even if the statement failed, unless the pool is closed.
    func tryOnce(_ statement: Statement, _ whenEnded: @escaping @Sendable () -> Void) {
        let settings = shared.settings
        perform { connection in
            if let connection {
                _ = settings.attempt(
                    on: connection,
                    until: .now + settings.timeLimit,
                    while: { false },
                    isBegun: { false },
                    { connection, limit throws(ServerError) in
                        try connection.run([statement], within: limit, isInterruptible: false)
                    }
                )
            }
            whenEnded()
        }
    }

    /// Starts the thread of a connection.
    private static func start(_ worker: Int, _ shared: Shared) {
        Thread.detachNewThread {
            guard let interruption = Interruption(),
                let connection = ServerConnection(
                    shared.settings.info,
                    application: shared.settings.application,
                    interruption,
                    shared.settings.reachability
                )
            else {
                // Without descriptors or memory: other connections do the work, or nobody does.
                for work in shared.state.withLock({ $0.removeUnmade(worker) }) { work(nil) }
                return
            }
            shared.state.withLock { $0.workers[worker] = interruption }
            while true {
                switch shared.state.withLock({ $0.next(for: worker) }) {
                case .work(let work): work(connection)
                case .idle: shared.settings.idle(connection)
                case .closed: return shared.state.withLock { $0.remove(worker) }
                }
            }
        }
    }

    private static let closed = RecordStoreError(.closed, explanation: "The store is closed. Open another one.")
    private static let exhausted = RecordStoreError(
        .unavailable,
        explanation: "There are no file descriptors or memory for a connection. Nothing was changed. Try again."
    )
}

/// The connections of a pool, and the work that waits for one.
private struct PoolState {
    enum Next {
        case work(ConnectionPool.Work)
        case idle
        case closed
    }

    var isClosed = false
    /// The interruptions of the threads, by number. A thread that starts has none yet.
    var workers: [Int: Interruption] = [:]
    private var started: Set<Int> = []
    private var idle: Set<Int> = []
    private var waiting = FIFOQueue<ConnectionPool.Work>()
    private var lastWorker = 0

    /// Adds work. Returns the idle thread to wake, or the number of the thread to start.
    mutating func add(
        _ work: @escaping ConnectionPool.Work,
        _ limit: Int
    ) -> (isClosed: Bool, idle: Interruption?, new: Int?) {
        guard !isClosed else { return (true, nil, nil) }
        waiting.append(work)
        if let worker = idle.popFirst() { return (false, workers[worker], nil) }
        guard started.count < limit else { return (false, nil, nil) }
        lastWorker += 1
        started.insert(lastWorker)
        return (false, nil, lastWorker)
    }

    /// Returns what a thread does next.
    mutating func next(for worker: Int) -> Next {
        idle.remove(worker)
        if let work = waiting.popFirst() { return .work(work) }
        if isClosed { return .closed }
        idle.insert(worker)
        return .idle
    }

    /// Removes a thread that has no connection. Returns the work that nobody will do.
    mutating func removeUnmade(_ worker: Int) -> [ConnectionPool.Work] {
        remove(worker)
        guard started.isEmpty else { return [] }
        var left: [ConnectionPool.Work] = []
        while let work = waiting.popFirst() { left.append(work) }
        return left
    }

    /// Removes a thread that ends.
    mutating func remove(_ worker: Int) {
        started.remove(worker)
        workers[worker] = nil
        idle.remove(worker)
    }
}

/// Interrupts the connection that works for a task or for listeners.
final class Waker: Sendable {
    private let interruption = Mutex<Interruption?>(nil)

    func set(_ interruption: Interruption?) { self.interruption.withLock { $0 = interruption } }

    // Under the lock, so that the connection does not meanwhile work for another task.
    func wake() { interruption.withLock { $0?.send() } }
}

/// What connections need to know about their server.
struct PoolSettings: Sendable {
    /// The first pause between attempts to reach the server, and the longest.
    static let pauses = (first: Duration.milliseconds(20), last: Duration.seconds(1))
    /// How long an idle connection waits before it looks again.
    private static let idleLimit = Duration.seconds(60)

    let info: String
    let application: String
    let connectionLimit: Int
    /// How long an operation tries to reach the server, and waits for an answer.
    let timeLimit: Duration
    /// How long an operation that has not begun waits after the first failed attempt to reach the server.
    let connectionTimeLimit: Duration
    /// What the connections know about the server together.
    var reachability = Reachability()
    /// Prepares a new connection.
    let prepare: @Sendable (ServerConnection, Duration) throws(ServerError) -> Void
    /// Called while the connection is idle, connected or not. Returns when to call it again.
    var whenIdle: (@Sendable (ServerConnection, PoolSettings) -> Duration?)?

    /// Runs work on a connection, connected first if necessary, and again after errors that another attempt may not meet.
    func attempt<Answer>(
        on connection: ServerConnection,
        until end: ContinuousClock.Instant,
        while isWanted: () -> Bool,
        isBegun: () -> Bool,
        _ body: (ServerConnection, Duration) throws(ServerError) -> Answer
    ) -> Result<Answer, RecordStoreError> {
        var pause = Self.pauses.first
        while true {
            do throws(ServerError) {
                try connect(connection, until: end)
                return .success(try body(connection, end - .now))
            } catch {
                if error == .interrupted, isWanted() { continue }
                // What has begun needs its outcome, and what has not can fail at once.
                let patience = isBegun() ? nil : reachability.failure.map { $0.start + connectionTimeLimit - .now }
                if let patience { pause = min(pause, patience) }
                guard error.isTransient, isWanted(), pause > .zero, .now + pause < end else {
                    return .failure(RecordStoreError(error, at: connection.place, limit: timeLimit))
                }
                // Ends early if the task stops waiting.
                connection.idle(for: pause)
                pause = min(pause * 2, Self.pauses.last)
            }
        }
    }

    /// Waits for work. Notices if the connection is lost.
    func idle(_ connection: ServerConnection) {
        connection.idle(for: whenIdle?(connection, self) ?? Self.idleLimit)
    }

    func connect(
        _ connection: ServerConnection,
        until end: ContinuousClock.Instant
    ) throws(ServerError) {
        guard !connection.isConnected else { return }
        try connection.connect(within: end - .now)
        try connection.prepare { connection throws(ServerError) in try prepare(connection, end - .now) }
    }
}
#endif
