import Synchronization

/// An error handler that passes on the first error of a kind, drops its repeats for a while, and then reports how many it
/// dropped.
///
/// Create it with ``ErrorHandler/droppingRepeats(within:clock:capacity:)``. Errors are of the same kind if they have the same
/// type and the same first 2,000 characters of their description.
public final class DeduplicatingErrorHandler<Time: Clock>: ErrorHandler where Time.Duration == Duration {
    private let base: any ErrorHandler
    private let window: Duration
    private let clock: Time
    private let filter: Mutex<RepeatFilter<Time.Instant>>

    init(_ base: any ErrorHandler, window: Duration, clock: Time, capacity: Int) {
        self.base = base
        self.window = window
        self.clock = clock
        filter = Mutex(RepeatFilter(window: window, capacity: capacity))
    }

    /// Passes the error on unless it is a repeat.
    ///
    /// First, it reports the repeats of each kind whose window has passed, as one ``RepeatedError`` for each kind.
    public func handle(_ error: any Error) {
        let now = clock.now
        // Outside the lock, because a description may be slow or call back into this object.
        let kind = RepeatFilter<Time.Instant>.Kind(error)
        // The wrapped handler is called without the lock, because it may be slow or call back into this object.
        for passing in filter.withLock({ $0.passing(error, of: kind, at: now) }) { base.handle(passing) }
    }

    /// Passes on a ``RepeatedError`` for each kind that had repeats, and closes the wrapped handler. From then on,
    /// every error is passed on.
    public func close() async {
        for passing in filter.withLock({ $0.close() }) { base.handle(passing) }
        await base.close()
    }

    /// The chain, starting with this handler.
    public var description: String { "drops repeats within \(window) → \(base)" }
}

extension ErrorHandler {
    /// Returns a handler that passes the first error of each kind on to this handler, and only counts its repeats.
    ///
    /// ```swift
    /// let handler = IgnoringErrorHandler()
    ///     .logging { print($0) }
    ///     .droppingRepeats(within: .seconds(60), clock: ContinuousClock())
    /// ```
    ///
    /// A ``RepeatedError`` reports the count when the next error of any kind arrives after the window, or when the handler is
    /// closed.
    ///
    /// - Parameters:
    ///   - window: How long errors of the same type and description are dropped after the first.
    ///   - clock: The clock that measures the window.
    ///   - capacity: The maximum number of kinds to remember, at least 1. Beyond it, the oldest kind is forgotten and
    ///     its repeats are reported.
    /// - Returns: The outermost handler of the new chain.
    public func droppingRepeats<Time: Clock>(
        within window: Duration,
        clock: Time,
        capacity: Int = 1_000
    ) -> DeduplicatingErrorHandler<Time> where Time.Duration == Duration {
        DeduplicatingErrorHandler(self, window: window, clock: clock, capacity: capacity)
    }
}

/// An error that occurred repeatedly, and the number of dropped repeats.
///
/// ```swift
/// let handler = IgnoringErrorHandler()
///     .notifying { error in
///         if let repeated = error as? RepeatedError { print("\(repeated.repeats) more: \(repeated.error)") }
///     }
///     .droppingRepeats(within: .seconds(60), clock: ContinuousClock())
/// ```
public struct RepeatedError: Error, CustomStringConvertible {
    /// The first error of its kind.
    public let error: any Error
    /// The number of equal errors that were dropped after the first, at least 1.
    public let repeats: Int
    /// How long repeats were dropped.
    public let window: Duration

    /// Creates an error that reports dropped repeats.
    public init(_ error: any Error, repeats: Int, window: Duration) {
        self.error = error
        self.repeats = repeats
        self.window = window
    }

    /// The error's description and the number of repeats, such as `… (and 41 times more within 10.0 seconds)`.
    public var description: String {
        "\(error) (and \(repeats == 1 ? "once" : "\(repeats) times") more within \(window))"
    }
}

/// The logic of ``DeduplicatingErrorHandler``, as a value without a clock. It decides which errors pass and which are
/// repeats.
package struct RepeatFilter<Instant: InstantProtocol> where Instant.Duration == Duration {
    /// What repeats of an error have in common.
    package struct Kind: Hashable, Sendable {
        let type: ObjectIdentifier
        let description: String

        /// Creates the kind of an error from its type and the beginning of its description.
        package init(_ error: any Error) {
            type = ObjectIdentifier(Swift.type(of: error))
            description = String("\(error)".prefix(2_000))
        }
    }

    private struct Memory {
        let first: any Error
        let end: Instant
        var repeats = 0
    }

    private let window: Duration
    private let capacity: Int
    private var memories: [Kind: Memory] = [:]
    /// The remembered kinds, oldest first, preceded by `forgotten` kinds that are no longer remembered. All windows
    /// have the same length, so this is also the order in which they end.
    private var kinds: [Kind] = []
    private var forgotten = 0
    private var latest: Instant?
    private var isClosed = false

    /// Creates a filter that remembers nothing yet.
    ///
    /// - Parameters:
    ///   - window: How long equal errors are dropped after the first.
    ///   - capacity: The maximum number of kinds to remember, at least 1.
    package init(window: Duration, capacity: Int) {
        self.window = window
        self.capacity = max(1, capacity)
    }

    /// Returns the errors to pass on, in order, when an error arrives.
    ///
    /// First comes a ``RepeatedError`` for each kind that had repeats, if its window has passed or it is forgotten to make room.
    /// Then comes the error itself, unless it is a repeat. If `now` is before the time of an earlier call, the filter uses the
    /// time of that call.
    ///
    /// - Complexity: Amortized O(1).
    package mutating func passing(_ error: any Error, of kind: Kind, at now: Instant) -> [any Error] {
        guard !isClosed else { return [error] }
        let now = max(now, latest ?? now)
        latest = now
        var passing: [any Error] = []
        while let oldest, oldest.end <= now { passing += forgetOldest() }
        guard memories[kind] == nil else {
            memories[kind]?.repeats += 1
            return passing
        }
        if memories.count == capacity { passing += forgetOldest() }
        memories[kind] = Memory(first: error, end: now.advanced(by: window))
        kinds.append(kind)
        return passing + [error]
    }

    /// Returns the reports to pass on at the end, oldest kind first. From then on, every error passes.
    package mutating func close() -> [any Error] {
        isClosed = true
        var passing: [any Error] = []
        while oldest != nil { passing += forgetOldest() }
        return passing
    }

    private var oldest: Memory? {
        kinds.indices.contains(forgotten) ? memories[kinds[forgotten]] : nil
    }

    private mutating func forgetOldest() -> [any Error] {
        let memory = memories.removeValue(forKey: kinds[forgotten])
        forgotten += 1
        // Compacts only when half of the kinds are forgotten, so that each kind is moved at most once on average.
        if forgotten * 2 >= kinds.count {
            kinds.removeFirst(forgotten)
            forgotten = 0
        }
        guard let memory, memory.repeats > 0 else { return [] }
        return [RepeatedError(memory.first, repeats: memory.repeats, window: window)]
    }
}
