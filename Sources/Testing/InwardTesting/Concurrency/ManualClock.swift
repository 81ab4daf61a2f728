import Synchronization

/// A clock that advances only when a test tells it to, so that tests of long waits finish immediately.
///
/// Wait until the tasks under test are asleep before you advance the clock, because the advance does not wake a task that goes
/// to sleep later:
///
/// ```swift
/// let clock = ManualClock()
/// async let sleep: Void = clock.sleep(for: .seconds(30))
/// await clock.sleepers(1)
/// clock.advance(by: .seconds(30))
/// try await sleep
/// ```
public final class ManualClock: Clock {
    /// An instant of a ``ManualClock``.
    public struct Instant: InstantProtocol, Hashable, Sendable {
        /// The duration since zero, where every manual clock starts.
        public let offset: Duration

        /// Creates an instant from its duration since zero, where every manual clock starts.
        public init(offset: Duration) {
            self.offset = offset
        }

        /// Returns the instant that is later by a duration.
        public func advanced(by duration: Duration) -> Self { Self(offset: offset + duration) }

        /// Returns the duration from this instant to another.
        public func duration(to other: Self) -> Duration { other.offset - offset }

        /// Returns whether the first instant is earlier.
        public static func < (first: Self, second: Self) -> Bool { first.offset < second.offset }
    }

    private struct Sleeper {
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct Watcher {
        let count: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var places = 0
        var sleepers: [Int: Sleeper] = [:]
        var watchers: [Int: Watcher] = [:]
    }

    private let state = Mutex(State())

    /// Creates a clock that starts at zero.
    public init() {}

    /// The current time of the clock.
    public var now: Instant { state.withLock(\.now) }

    /// Always zero: the clock can be advanced by any amount.
    public var minimumResolution: Duration { .zero }

    /// Advances the clock and wakes all tasks whose deadline has passed, without waiting for what they do next.
    ///
    /// Tasks wake in the order of their deadlines. Tasks with the same deadline wake in the order in which they went to sleep.
    ///
    /// - Parameter duration: The duration to advance by. A negative duration does not move the clock.
    /// - Complexity: O(*n* log *n*) in the number of sleeping tasks.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: max(.zero, duration))
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for place in due.keys { state.sleepers[place] = nil }
            return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }.map(\.value.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    /// Suspends until the clock reaches a deadline. Returns immediately if it already has.
    ///
    /// - Throws: A `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let place = nextPlace()
        try await withTaskCancellationHandler {
            // Each continuation is resumed once: here if there is nothing to wait for, otherwise by the advance or the
            // cancellation that removes it under the lock. A cancellation that finds nothing to remove came before this lock
            // was taken, so `isCancelled` is true here.
            try await withCheckedThrowingContinuation { continuation in
                let (outcome, watchers) = state.withLock { state -> (Result<Void, any Error>?, [Watcher]) in
                    if Task.isCancelled { return (.failure(CancellationError()), []) }
                    if deadline <= state.now { return (.success(()), []) }
                    state.sleepers[place] = Sleeper(deadline: deadline, continuation: continuation)
                    let told = state.watchers.filter { $0.value.count <= state.sleepers.count }
                    for place in told.keys { state.watchers[place] = nil }
                    return (nil, Array(told.values))
                }
                if let outcome { continuation.resume(with: outcome) }
                for watcher in watchers { watcher.continuation.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: place) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// The number of tasks that are sleeping on the clock.
    public var sleeperCount: Int { state.withLock(\.sleepers.count) }

    /// The earliest deadline of the sleeping tasks, or `nil` if none are sleeping.
    ///
    /// - Complexity: O(*n*) in the number of sleeping tasks.
    public var earliestDeadline: Instant? {
        state.withLock { state in state.sleepers.values.lazy.map(\.deadline).min() }
    }

    /// Waits until at least the given number of tasks are sleeping on the clock. Returns early if the task is cancelled.
    public func sleepers(_ count: Int) async {
        let place = nextPlace()
        await withTaskCancellationHandler {
            // Resumed once, as above: here if there is nothing to wait for, otherwise by the last sleeper to arrive or by a
            // cancellation.
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    guard state.sleepers.count < count, !Task.isCancelled else { return false }
                    state.watchers[place] = Watcher(count: count, continuation: continuation)
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            let watcher = state.withLock { $0.watchers.removeValue(forKey: place) }
            watcher?.continuation.resume()
        }
    }

    private func nextPlace() -> Int {
        state.withLock { state in
            state.places += 1
            return state.places
        }
    }
}
