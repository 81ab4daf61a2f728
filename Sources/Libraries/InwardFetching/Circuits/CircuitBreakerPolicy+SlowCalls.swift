extension CircuitBreakerPolicy {
    /// When answers take so long that it is as bad as if they failed.
    public struct SlowCalls: Hashable, Sendable {
        /// What takes this long, or longer, is slow.
        public let duration: Duration
        /// The share of slow requests that opens the circuit, from 0.01 to 1.
        public let share: Double

        /// Says what is slow, and how much of it is too much.
        ///
        /// - Parameters:
        ///   - duration: What takes this long, or longer, is slow: from a millisecond to a day, and the nearest of these for
        ///     anything else.
        ///   - share: The share of slow requests that opens the circuit, from 0.01 to 1, and the nearest of these for
        ///     anything else.
        public init(_ duration: Duration, share: Double = 0.5) {
            self.duration = CircuitBreakerPolicy.clamped(duration)
            self.share = CircuitBreakerPolicy.clamped(share)
        }
    }
}
