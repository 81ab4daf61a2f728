import Synchronization

/// Passes on the first error of a kind, drops equal ones for a while, and tells then how many there were.
///
/// Errors are of one kind if they have the same type and the same description.
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

    /// Passes the error on unless it is a repeat; before it a ``RepeatedError`` for each kind whose window has passed and of
    /// which any were dropped.
    public func handle(_ error: any Error) {
        let now = clock.now
        // Not within the lock: a description may take its time, and may come back here.
        let kind = RepeatFilter<Time.Instant>.Kind(error)
        // What is wrapped is called without the lock: it may take its time, and may come back here.
        for passing in filter.withLock({ $0.passing(error, of: kind, at: now) }) { base.handle(passing) }
    }

    /// Passes on a ``RepeatedError`` for each kind of which any were dropped, and closes what it passes errors on to. Every
    /// error passes from then on.
    public func close() async {
        for passing in filter.withLock({ $0.close() }) { base.handle(passing) }
        await base.close()
    }

    /// The chain from here on.
    public var description: String { "drops repeats within \(window) → \(base)" }
}

extension ErrorHandler {
    /// A handler that passes on to this one the first error of a kind, and of those that equal it no more than how many there
    /// were.
    ///
    /// How many there were is told by a ``RepeatedError``, when the next error of any kind comes behind the window, or at the
    /// close.
    ///
    /// - Parameters:
    ///   - window: For how long errors of the same type and description are dropped behind the first.
    ///   - clock: What measures the window.
    ///   - capacity: How many kinds are remembered at most; at least one. If there are more the oldest is forgotten, and what
    ///     was dropped of it is told.
    /// - Returns: the handler to hand errors to.
    public func droppingRepeats<Time: Clock>(
        within window: Duration,
        clock: Time,
        capacity: Int = 1_000
    ) -> DeduplicatingErrorHandler<Time> where Time.Duration == Duration {
        DeduplicatingErrorHandler(self, window: window, clock: clock, capacity: capacity)
    }
}

/// An error, and how often it came again and was dropped.
public struct RepeatedError: Error, CustomStringConvertible {
    /// The first error of its kind.
    public let error: any Error
    /// How many equal ones were dropped behind it; at least one.
    public let repeats: Int
    /// For how long they were dropped.
    public let window: Duration

    /// Names an error and how many equal ones were dropped within the window behind it.
    public init(_ error: any Error, repeats: Int, window: Duration) {
        self.error = error
        self.repeats = repeats
        self.window = window
    }

    /// The error's description and how often it came again: `… (and 41 times more within 10.0 seconds)`.
    public var description: String {
        "\(error) (and \(repeats == 1 ? "once" : "\(repeats) times") more within \(window))"
    }
}

/// Decides which errors pass and which are repeats: a value without a clock, for a ``DeduplicatingErrorHandler``.
package struct RepeatFilter<Instant: InstantProtocol> where Instant.Duration == Duration {
    /// What errors have to have in common to be repeats of one another.
    package struct Kind: Hashable, Sendable {
        let type: ObjectIdentifier
        let description: String

        /// The kind of an error. Of its description, the beginning.
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
    /// The kinds that are remembered, the oldest first, behind so many that are forgotten. All windows are equally long, so
    /// this is also the order in which they end.
    private var kinds: [Kind] = []
    private var forgotten = 0
    private var latest: Instant?
    private var isClosed = false

    /// Makes a filter that remembers nothing yet.
    ///
    /// - Parameters:
    ///   - window: For how long equal errors are dropped behind the first.
    ///   - capacity: How many kinds of error are remembered at most; at least one.
    package init(window: Duration, capacity: Int) {
        self.window = window
        self.capacity = max(1, capacity)
    }

    /// What to pass on, in this order, now that an error has come: for each kind whose window has passed, or that has to be
    /// forgotten, what was dropped of it; and the error itself unless it is a repeat. A time that lies before an earlier one
    /// counts as that.
    ///
    /// - Complexity: O(1) amortised.
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

    /// What to pass on at the end: what was dropped of each kind, the oldest first. From then on every error passes.
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
        // Not before half of them are forgotten: so each is moved no more than once, taken together.
        if forgotten * 2 >= kinds.count {
            kinds.removeFirst(forgotten)
            forgotten = 0
        }
        guard let memory, memory.repeats > 0 else { return [] }
        return [RepeatedError(memory.first, repeats: memory.repeats, window: window)]
    }
}
