import Synchronization

/// A clock that stands still, counts how often work reads it, and acts at chosen readings.
///
/// Code that gives up in time reads its deadline between steps. A deadline on this clock therefore interrupts the work at the
/// same step in every run:
///
///     let clock = PollingClock()
///     clock.act(at: 3) { clock.advance() }
///     let result = await Deadline(in: .seconds(1), on: clock).carried { () throws(ImageCodecError) in
///         clock.start()
///         return try codec.image(from: bytes, options)
///     }
final class PollingClock: Clock {
    private struct State {
        var readings: Int?
        var hasPassed = false
        var actions: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    /// How often the clock was read since it was started.
    var readings: Int { state.withLock { $0.readings ?? 0 } }

    /// Counts readings from here.
    func start() { state.withLock { $0.readings = 0 } }

    /// Moves the time past every deadline.
    func advance() { state.withLock { $0.hasPassed = true } }

    /// Runs an action in the reading of a number, counted from 1, before that reading returns.
    func act(at reading: Int, _ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.actions[reading] = action }
    }

    /// The time; it may move in the reading itself.
    var now: ManualClock.Instant {
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            guard let readings = state.readings else { return nil }
            state.readings = readings + 1
            return state.actions.removeValue(forKey: readings + 1)
        }
        action?()
        return ManualClock.Instant(offset: state.withLock(\.hasPassed) ? .seconds(3_600) : .zero)
    }

    var minimumResolution: Duration { .zero }

    /// Does not sleep: work that is carried by a deadline schedules nothing.
    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws { throw CancellationError() }
}
