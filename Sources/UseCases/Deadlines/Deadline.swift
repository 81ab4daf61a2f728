import Synchronization

/// The moment by which an answer is of use to whoever asked.
///
/// It travels with the task, and with every child of it, as ``current``. Whoever waits for something asks it how much time
/// is left; when none is, what runs under it is cancelled.
public struct Deadline: Sendable {
    /// The deadline of the task that asks; `nil` if it has all the time there is.
    public static var current: Deadline? { bound }

    // Bound nowhere but where the work is cancelled too, so that nobody sees a deadline which does not hold.
    @TaskLocal private static var bound: Deadline?
    private static let lastNumber = Atomic(0)

    /// How much time has passed since the deadline was made.
    package let stopwatch: Stopwatch
    private let limit: Duration
    private let clock: any Clock<Duration>
    private let number = lastNumber.add(1, ordering: .relaxed).newValue

    /// Makes a deadline that is so far from now, on a clock.
    public init(in limit: Duration, on clock: some Clock<Duration>) {
        self.limit = limit
        self.clock = clock
        stopwatch = Stopwatch(clock)
    }

    /// How much time is left; zero or less once the deadline has passed.
    public var remaining: Duration { limit - stopwatch.elapsed }

    /// Whether no time is left.
    public var hasPassed: Bool { remaining <= .zero }

    /// Runs a piece of work that has time until this deadline, or until that of the task if it comes first.
    ///
    /// When the time is up the work is cancelled and waited for, so nothing of it goes on behind the caller's back.
    ///
    /// - Returns: what the work gave or threw; `nil` if this deadline passed first, whatever the work came to then.
    public func bound<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () async throws(Failure) -> Value
    ) async -> Result<Value, Failure>? {
        guard !hasPassed else { return nil }
        if let current = Self.current, current.number == number || current.remaining < remaining {
            // Whoever bound the task to it cancels the work when it passes.
            return await Result(awaiting: work)
        }
        return await Self.$bound.withValue(self) {
            await withTaskGroup(of: Event<Value, Failure>.self) { group in
                group.addTask { .ended(await Result(awaiting: work)) }
                group.addTask { await passesUnlessCancelled() ? .passed : .cancelled }
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

    /// Begins something that outlives whoever begins it, and so has nothing to do with the deadline of the task.
    package static func lifted<Value>(_ begin: () -> Value) -> Value {
        $bound.withValue(nil, operation: begin)
    }

    private enum Event<Value: Sendable, Failure: Error> {
        case ended(Result<Value, Failure>)
        case passed
        case cancelled
    }

    private func passesUnlessCancelled() async -> Bool {
        do {
            try await clock.sleep(for: remaining)
            return true
        } catch {
            return false
        }
    }
}
