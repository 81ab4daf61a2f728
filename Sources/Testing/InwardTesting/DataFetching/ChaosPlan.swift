/// How often a ``ChaosDataFetcher`` does what to requests, and how long it takes.
///
///     ChaosPlan(
///         [.unreachable: 0.02, .interrupted: 0.01, .unavailable: 0.05],
///         latency: .milliseconds(5) ... .milliseconds(50),
///         slowShare: 0.01
///     )
public struct ChaosPlan: Hashable, Sendable {
    /// The share of requests that meet each fault, from 0 to 1, and all together no more than 1.
    public let shares: [ChaosFault: Double]
    /// How long a request takes, its fault or its way to the base: anything between, each as likely as the others.
    public let latency: ClosedRange<Duration>
    /// The share of requests that take longer, from 0 to 1, whatever else they meet.
    public let slowShare: Double
    /// How many times as long those take, from 1 to 1,000,000.
    public let slowFactor: Int
    /// When to ask again, as 503 and 429 say it, in whole seconds; `nil` if they say nothing.
    public let retryAfter: Duration?

    /// Nothing is done to anybody.
    public static let calm = Self([:])

    /// Makes a plan. What is out of its range counts as the nearest that is in it.
    ///
    /// - Parameters:
    ///   - shares: The share of requests that meet each fault, from 0 to 1: 0.02 are 2 %. If they are more than 1 together, all
    ///     requests meet one, in these proportions.
    ///   - latency: How long a request takes, from zero up.
    ///   - slowShare: The share of requests that take longer, from 0 to 1.
    ///   - slowFactor: How many times as long those take, at least 1.
    ///   - retryAfter: When to ask again, as 503 and 429 say it, rounded up to a second; `nil` if they say nothing.
    public init(
        _ shares: [ChaosFault: Double],
        latency: ClosedRange<Duration> = .zero ... .zero,
        slowShare: Double = 0,
        slowFactor: Int = 100,
        retryAfter: Duration? = .seconds(1)
    ) {
        let shares = shares.mapValues(Self.share)
        // In an order of its own, because sums of these differ in their last digit by it.
        let total = ChaosFault.allCases.reduce(0) { $0 + (shares[$1] ?? 0) }
        self.shares = shares.mapValues { $0 / max(1, total) }
        self.latency = max(.zero, latency.lowerBound)...max(.zero, latency.upperBound)
        self.slowShare = Self.share(slowShare)
        self.slowFactor = min(max(1, slowFactor), 1_000_000)
        self.retryAfter = retryAfter.map { max(.zero, $0) }
    }

    /// A number from 0 to 1. What is no number is none of the requests.
    private static func share(_ number: Double) -> Double { number > 0 ? min(number, 1) : 0 }
}

extension ChaosPlan: CustomStringConvertible {
    /// What is done to how many, such as `unreachable 2.0 %, latency 0.005 seconds to 0.05 seconds`.
    public var description: String {
        var parts = ChaosFault.allCases.compactMap { fault in
            shares[fault].flatMap { $0 > 0 ? "\(fault) \($0 * 100) %" : nil }
        }
        if latency.upperBound > .zero { parts.append("latency \(latency.lowerBound) to \(latency.upperBound)") }
        if slowShare > 0 { parts.append("\(slowShare * 100) % take \(slowFactor) times as long") }
        return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
    }
}
