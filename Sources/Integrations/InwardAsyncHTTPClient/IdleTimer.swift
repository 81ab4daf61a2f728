import InwardCore
import Synchronization

/// Calls back when nothing has happened for too long.
final class IdleTimer: Sendable {
    private struct State {
        var lastArrival: Duration
        var alarm: TimerService.Timer?
        var isStopped = false
    }

    private let timeout: Duration
    private let timer: TimerService
    private let state: Mutex<State>

    /// A timer that runs from now on.
    init(timeout: Duration, timer: TimerService) {
        self.timeout = timeout
        self.timer = timer
        state = Mutex(State(lastArrival: timer.now))
    }

    /// Has the timer run anew from now on.
    func restart() {
        // Nothing is scheduled: what was looks at this when it is due.
        let now = timer.now
        state.withLock { $0.lastArrival = now }
    }

    /// Has something done when the timer has run for its time without being started anew, once, unless it is stopped before.
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

    /// Does nothing any more.
    func stop() {
        let alarm = state.withLock { state in
            state.isStopped = true
            return state.alarm
        }
        if let alarm { timer.cancel(alarm) }
    }
}
