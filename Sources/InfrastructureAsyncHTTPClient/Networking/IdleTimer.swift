import Synchronization

/// Tells when nothing has happened for too long.
final class IdleTimer<C: Clock>: Sendable where C.Duration == Duration {
    private let timeout: Duration
    private let clock: C
    private let start: Mutex<C.Instant>

    /// A timer that runs from now on.
    init(timeout: Duration, clock: C) {
        self.timeout = timeout
        self.clock = clock
        start = Mutex(clock.now)
    }

    /// When the timer elapses, unless it is started anew.
    var end: C.Instant { start.withLock(\.self).advanced(by: timeout) }

    /// Has the timer run anew from now on.
    func restart() {
        start.withLock { $0 = clock.now }
    }

    /// Waits until the timer has run for its time without being started anew; `false` if the task is cancelled before.
    func elapses() async -> Bool {
        while true {
            let end = end
            guard clock.now < end else { return true }
            do { try await clock.sleep(until: end, tolerance: nil) } catch { return false }
        }
    }
}
