/// Why a ``DeterministicScheduler`` gave a piece of work up. A run with the same seed comes to the same.
public enum DeterministicSchedulerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The work is not done, and nothing of it is ready, sleeps, or is outside: it waits for what nobody will give.
    case stalled(seed: UInt64, SchedulerTrace)
    /// The work is not done after as many steps as are allowed, such as one that yields until something happens which needs time.
    case exhausted(seed: UInt64, SchedulerTrace)
    /// The scheduler runs something else already.
    case busy(seed: UInt64)

    /// What happened, with the seed, as a sentence without its full stop.
    public var description: String {
        switch self {
        case .stalled(let seed, let trace):
            "The work waits for what nobody will give: nothing is ready or asleep after \(trace), with the seed \(seed)"
        case .exhausted(let seed, let trace):
            "The work is not done after the most steps allowed: \(trace), with the seed \(seed)"
        case .busy(let seed): "The scheduler with the seed \(seed) runs something else already"
        }
    }
}
