extension CircuitBreaker {
    /// What a circuit breaker does with requests.
    public enum State: Hashable, Sendable, CustomStringConvertible {
        /// It lets all of them through, and counts how they end.
        case closed
        /// It refuses them for so much longer; from zero on, the next one is let through as a probe.
        case open(remaining: Duration)
        /// It lets a few of them through as probes, and refuses the others.
        case halfOpen
        /// It refuses them until it is closed by hand.
        case isolated

        /// The state's name, as observers are told it: `closed`, `open`, `half open` or `isolated`.
        public var description: String {
            switch self {
            case .closed: CircuitPhase.closed.rawValue
            case .open: CircuitPhase.open.rawValue
            case .halfOpen: CircuitPhase.halfOpen.rawValue
            case .isolated: CircuitPhase.isolated.rawValue
            }
        }
    }
}
