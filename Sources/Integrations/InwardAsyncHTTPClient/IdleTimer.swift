import InwardCore
import Synchronization

/// A timer that calls back after a period without activity.
final class IdleTimer: Sendable {
    private struct State {
        var lastArrival: Duration
        var alarm: TimerService.Timer?
        var isStopped = false
    }

    private let timeout: Duration
    private let timer: TimerService
    private let state: Mutex<State>

    /// Creates a timer that runs from now on.
    init(timeout: Duration, timer: TimerService) {
        self.timeout = timeout
        self.timer = timer
        state = Mutex(State(lastArrival: timer.now))
    }

    /// Restarts the timer.
    func restart() {
        // The pending alarm is not rescheduled: when it fires, it checks this time.
        let now = timer.now
        state.withLock { $0.lastArrival = now }
    }

    /// Calls a closure once, when the timeout has passed since the last restart, unless the timer is stopped first.
    func whenElapsed(_ action: @escaping @Sendable () -> Void) {
        let now = timer.now
        let end = state.withLock { state in state.isStopped ? nil : state.lastArrival + timeout }
        guard let end else { return }
        guard now < end else { return action() }
        let alarm = timer.schedule(at: end) { self.whenElapsed(action) }
        let isStopped = state.withLock { state in
            state.alarm = alarm
            return state.isStopped
        }
        if isStopped { timer.cancel(alarm) }
    }

    /// Stops the timer.
    func stop() {
        let alarm = state.withLock { state in
            state.isStopped = true
            return state.alarm
        }
        if let alarm { timer.cancel(alarm) }
    }
}
