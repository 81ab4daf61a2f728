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
