/// The moment by which an answer is of use to whoever asked.
///
/// It travels with the task, and with every child of it, as ``current``. Whoever waits for something asks it how much time
/// is left, and lets ``bound(_:)`` end the wait when nothing is.
public struct Deadline: Sendable {
    /// The deadline of the task that asks; `nil` if it has all the time there is.
    @TaskLocal public static var current: Deadline?

    /// How much time has passed since the deadline was made.
    package let stopwatch: Stopwatch
    private let limit: Duration
    private let clock: any Clock<Duration>

    /// Makes a deadline that is so far from now, on a clock.
    public init(in limit: Duration, on clock: some Clock<Duration>) {
        self.limit = limit
        self.clock = clock
        stopwatch = Stopwatch(clock)
    }

    /// How much time is left; less than zero once the deadline has passed.
    public var remaining: Duration { limit - stopwatch.elapsed }

    /// Runs a piece of work that has time until this deadline, or until that of the task if it comes first.
    ///
    /// When the time is up the work is cancelled and waited for, so nothing of it goes on behind the caller's back.
    ///
    /// - Returns: what the work gave or threw; `nil` if the deadline passed first, whatever the work came to then.
    public func bound<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () async throws(Failure) -> Value
    ) async -> Result<Value, Failure>? {
        let deadline = earliest
        guard deadline.remaining > .zero else { return nil }
        return await Self.$current.withValue(deadline) {
            await withTaskGroup(of: Event<Value, Failure>.self) { group in
                group.addTask { .ended(await Result(awaiting: work)) }
                group.addTask { await deadline.hasPassedUnlessCancelled() ? .passed : .cancelled }
                defer { group.cancelAll() }
                for await event in group {
                    switch event {
                    case .ended(let result): return result
                    case .passed: return nil
                    // The work is cancelled too, and says itself what it came to.
                    case .cancelled: continue
                    }
                }
                return nil
            }
        }
    }

    private enum Event<Value: Sendable, Failure: Error> {
        case ended(Result<Value, Failure>)
        case passed
        case cancelled
    }

    private var earliest: Deadline {
        guard let current = Self.current, current.remaining < remaining else { return self }
        return current
    }

    private func hasPassedUnlessCancelled() async -> Bool {
        do {
            try await clock.sleep(for: remaining)
            return true
        } catch {
            return false
        }
    }
}
