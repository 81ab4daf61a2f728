import Synchronization

/// A clock whose time stands still until a test moves it on, so that what takes hours is tested in no time.
///
/// Wait for the tasks that are to sleep before the time is moved on, or they fall asleep behind it:
///
///     let clock = ManualClock()
///     async let answer = slowFetcher.fetch(request)
///     await clock.sleepers(1)
///     clock.advance(by: .seconds(30))
///     #expect(try await answer.status == .ok)
public final class ManualClock: Clock {
    /// A moment of a ``ManualClock``.
    public struct Instant: InstantProtocol, Hashable, Sendable {
        /// How far the moment lies behind the one at which every manual clock begins.
        public let offset: Duration

        /// Makes the moment that lies so far behind the one at which every manual clock begins.
        public init(offset: Duration) {
            self.offset = offset
        }

        /// The moment that lies so much later.
        public func advanced(by duration: Duration) -> Self { Self(offset: offset + duration) }

        /// How much later the other moment is.
        public func duration(to other: Self) -> Duration { other.offset - offset }

        /// Whether the first moment is the earlier one.
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

    /// Makes a clock that stands at zero.
    public init() {}

    /// The time to which the clock was moved on.
    public var now: Instant { state.withLock(\.now) }

    /// Nothing: the clock is moved on by as little as one likes.
    public var minimumResolution: Duration { .zero }

    /// Moves the time on and wakes every task whose deadline has come, the earliest deadline first, and of one deadline who
    /// fell asleep first. It does not wait for what they do then.
    ///
    /// - Parameter duration: By how much; what is below zero moves nothing.
    /// - Complexity: O(n log n) in the number of tasks that sleep.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: max(.zero, duration))
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for place in due.keys { state.sleepers[place] = nil }
            return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }.map(\.value.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    /// Sleeps until the clock was moved on to the deadline; not at all if it was already.
    ///
    /// - Throws: a `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let place = nextPlace()
        try await withTaskCancellationHandler {
            // Kept once under its place and the lock, and resumed by whoever takes it out: the time that has come, or a
            // cancellation; or here, if there is nothing to wait for. A cancellation that found nothing to take out came
            // before the lock was taken here, where it is seen.
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

    /// How many tasks sleep on the clock now.
    public var sleeperCount: Int { state.withLock(\.sleepers.count) }

    /// The earliest deadline of those who sleep; `nil` if nobody does.
    ///
    /// - Complexity: O(n) in the number of tasks that sleep.
    public var earliestDeadline: Instant? {
        state.withLock { state in state.sleepers.values.lazy.map(\.deadline).min() }
    }

    /// Waits until at least so many tasks sleep on the clock. Who is cancelled waits no longer.
    public func sleepers(_ count: Int) async {
        let place = nextPlace()
        await withTaskCancellationHandler {
            // Kept once under its place and the lock, and resumed by whoever takes it out: the last of the sleepers, or a
            // cancellation; or here, as above.
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
