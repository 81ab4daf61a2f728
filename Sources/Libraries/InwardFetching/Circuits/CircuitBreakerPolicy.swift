/// When a circuit opens, for how long, and what closes it.
///
/// Numbers outside of their range count as the nearest one inside.
public struct CircuitBreakerPolicy: Hashable, Sendable {
    /// Half of at least 10 of the last 20 requests have failed: open for 10 seconds, and twice as long each time that a probe
    /// fails, up to a minute; 3 probes that succeed close the circuit. Slow requests do not count.
    public static let standard = Self()

    /// Which of the last requests are looked at.
    public let window: Window
    /// How many requests have to be in the window before their shares mean anything; at most as many as it holds.
    public let minimumCalls: Int
    /// The share of failures that opens the circuit, from 0.01 to 1.
    public let failureRateThreshold: Double
    /// What is slow and how much of it opens the circuit; `nil` if that does not matter.
    public let slowCalls: SlowCalls?
    /// For how long nothing is sent when the circuit opens.
    public let openDuration: Duration
    /// For how long nothing is sent at most, if probes fail again and again.
    public let maximumOpenDuration: Duration
    /// How many probes are let through at a time, and have to succeed to close the circuit.
    public let probes: Int
    /// What counts as a failure.
    public let failures: FailureCriteria

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - window: Which of the last requests are looked at.
    ///   - minimumCalls: How many requests have to be in the window before their shares mean anything, at least 1.
    ///   - failureRateThreshold: The share of failures that opens the circuit, from 0.01 to 1.
    ///   - slowCalls: What is slow, and how much of it opens the circuit. It costs two looks at the clock for each request;
    ///     with `nil` and a window of calls there is none.
    ///   - openDuration: For how long nothing is sent when the circuit opens, from a millisecond to a day. It is also how long a
    ///     probe may take until others are let through in its place.
    ///   - maximumOpenDuration: Each time that a probe fails it doubles up to this, at most a day.
    ///   - probes: How many probes are let through at a time, and have to succeed to close the circuit, from 1 to 1,000.
    ///   - failures: What counts as a failure.
    public init(
        window: Window = .calls(20),
        minimumCalls: Int = 10,
        failureRateThreshold: Double = 0.5,
        slowCalls: SlowCalls? = nil,
        openDuration: Duration = .seconds(10),
        maximumOpenDuration: Duration = .seconds(60),
        probes: Int = 3,
        failures: FailureCriteria = .standard
    ) {
        self.window = window.clamped
        self.minimumCalls = min(max(minimumCalls, 1), self.window.capacity)
        self.failureRateThreshold = Self.clamped(failureRateThreshold)
        self.slowCalls = slowCalls
        self.openDuration = Self.clamped(openDuration)
        self.maximumOpenDuration = max(self.openDuration, Self.clamped(maximumOpenDuration))
        self.probes = min(max(probes, 1), 1_000)
        self.failures = failures
    }

    /// Whether an answer is a failure; `nil` if it did not come from the source, and so says nothing about it.
    func isFailure(_ response: DataResponse) -> Bool? {
        response.isOfSource ? failures.isFailure(response) : nil
    }

    /// Whether an error is a failure; `nil` if the source had no part in it.
    func isFailure(_ error: FetchError) -> Bool? {
        guard error.wasSent || error.reason == .invalidRequest else { return nil }
        return switch error.reason.code {
        case .cancelled, .closed, .rejected: nil
        case .invalidRequest: failures.isFailure(error) ? true : nil
        case .unreachable, .untrusted, .timedOut, .interrupted, .tooLarge, .tooManyRedirects, .unsuccessful,
            .unreadable:
            failures.isFailure(error)
        }
    }

    /// The nearest share that is allowed; what is no number is the largest.
    static func clamped(_ share: Double) -> Double { share <= 1 ? max(share, 0.01) : 1 }

    /// The nearest duration that is allowed.
    static func clamped(_ duration: Duration) -> Duration { min(max(duration, .milliseconds(1)), .seconds(86_400)) }
}

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
