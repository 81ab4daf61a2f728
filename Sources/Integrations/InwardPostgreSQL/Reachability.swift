#if PostgreSQL
import InwardCore
import Synchronization

/// What the connections of a store know about its server together: whether one is open, and otherwise why not.
final class Reachability: Sendable {
    /// A failure to connect while no connection is open.
    struct Failure: Sendable {
        /// The last error.
        let error: ServerError
        /// When the first attempt failed.
        let start: ContinuousClock.Instant
    }

    /// Counts a connection as open until it is released.
    final class OpenConnection: Sendable {
        private let reachability: Reachability

        fileprivate init(_ reachability: Reachability) {
            self.reachability = reachability
            reachability.state.withLock { state in
                state.openCount += 1
                state.failure = nil
            }
        }

        deinit { reachability.state.withLock { $0.openCount -= 1 } }
    }

    private struct State {
        var openCount = 0
        var failure: Failure?
    }

    private let state = Mutex(State())

    /// The failure of the last attempts to connect, or `nil` if a connection has been open since then.
    var failure: Failure? { state.withLock(\.failure) }

    /// Reports that a connection is open.
    func open() -> OpenConnection { OpenConnection(self) }

    /// Reports that an attempt to connect has failed. Other connections that are open show that the server can be reached.
    func fail(_ error: ServerError) {
        state.withLock { state in
            guard state.openCount == 0 else { return }
            state.failure = Failure(error: error, start: state.failure?.start ?? .now)
        }
    }
}

/// The wait of an operation for a connection. It ends early if the server cannot be reached.
final class ConnectionWait: Sendable {
    private enum Phase {
        case waiting(TimerService.Timer?)
        case over(isConnected: Bool)
    }

    /// The shortest time between two checks.
    private static let pause = Duration.milliseconds(10)

    private let reachability: Reachability
    private let limit: Duration
    private let giveUp: @Sendable (ServerError) -> Void
    private let phase = Mutex(Phase.waiting(nil))

    /// Begins to wait.
    ///
    /// - Parameters:
    ///   - reachability: What is known about the server.
    ///   - limit: How long to wait after the first failed attempt to connect.
    ///   - giveUp: Called at the end of this time, unless there is a connection by then.
    init(
        for reachability: Reachability,
        limit: Duration,
        orElse giveUp: @escaping @Sendable (ServerError) -> Void
    ) {
        self.reachability = reachability
        self.limit = limit
        self.giveUp = giveUp
        check(after: limit)
    }

    deinit { _ = end() }

    /// Ends the wait because there is a connection.
    ///
    /// - Returns: `false` if the wait had ended without one.
    func end() -> Bool {
        phase.withLock { phase in
            switch phase {
            case .waiting(let timer):
                if let timer { TimerService.continuous.cancel(timer) }
                phase = .over(isConnected: true)
                return true
            case .over(let isConnected): return isConnected
            }
        }
    }

    private func check(after duration: Duration) {
        let timers = TimerService.continuous
        phase.withLock { phase in
            guard case .waiting = phase else { return }
            let moment = timers.now + max(duration, Self.pause)
            phase = .waiting(timers.schedule(at: moment) { [weak self] in self?.check() })
        }
    }

    /// Gives up if attempts have failed for long enough. Until one has failed, the operation waits for its turn.
    private func check() {
        guard let failure = reachability.failure else { return check(after: limit) }
        let rest = failure.start + limit - .now
        guard rest <= .zero else { return check(after: rest) }
        let isWaiting = phase.withLock { phase in
            guard case .waiting = phase else { return false }
            phase = .over(isConnected: false)
            return true
        }
        if isWaiting { giveUp(failure.error) }
    }
}
#endif
