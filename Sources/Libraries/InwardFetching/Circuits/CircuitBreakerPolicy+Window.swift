extension CircuitBreakerPolicy {
    /// Which of the last requests are looked at.
    public enum Window: Hashable, Sendable {
        /// The last so many of them, from 1 to 10,000.
        case calls(Int)
        /// Those that ended within this time, from a millisecond to a day. It moves on by tenths: a request counts for at
        /// least nine tenths of the time, and at most the whole.
        case time(Duration)

        /// This window within the range that is allowed.
        var clamped: Self {
            switch self {
            case .calls(let count): .calls(min(max(count, 1), 10_000))
            case .time(let duration): .time(CircuitBreakerPolicy.clamped(duration))
            }
        }

        /// How many requests are counted at most.
        var capacity: Int {
            switch self {
            case .calls(let count): count
            case .time: .max
            }
        }

        /// Whether it moves on by time.
        var isTimed: Bool {
            switch self {
            case .calls: false
            case .time: true
            }
        }

        /// So many requests in the window, as a part of a sentence: `the last 20 requests`.
        func words(for count: Int) -> String {
            switch self {
            case .calls: "the last \(count) requests"
            case .time(let duration): "\(count) requests within \(duration)"
            }
        }
    }
}
