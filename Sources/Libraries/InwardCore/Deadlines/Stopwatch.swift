/// Tells how much time has passed since it was made, on whatever clock that is.
///
/// It stands for a clock where a type parameter would have to be carried through everything.
public struct Stopwatch: Sendable {
    private let time: @Sendable () -> Duration

    /// Starts a stopwatch on a clock.
    public init<Time: Clock<Duration>>(_ clock: Time) {
        let start = clock.now
        time = { start.duration(to: clock.now) }
    }

    /// A stopwatch that was started before.
    init(_ time: @escaping @Sendable () -> Duration) {
        self.time = time
    }

    /// How much time has passed.
    public var elapsed: Duration { time() }
}
