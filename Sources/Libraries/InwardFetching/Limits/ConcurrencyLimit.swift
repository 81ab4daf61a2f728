/// The maximum number of concurrent requests: a fixed number, or one that adapts to the upstream.
///
/// ```swift
/// let fixed = ConcurrencyLimiter(.fixed(32))
/// let adaptive = ConcurrencyLimiter(.adaptive(in: 4...200))
/// ```
public struct ConcurrencyLimit: Hashable, Sendable {
    private enum Rule: Hashable {
        case fixed(Int)
        case adaptive(AdaptiveLimit)
    }

    private var rule: Rule

    /// Returns a fixed limit.
    ///
    /// - Parameter count: The maximum number of concurrent requests; values below 1 count as 1.
    /// - Returns: The limit.
    public static func fixed(_ count: Int) -> Self { Self(rule: .fixed(max(1, count))) }

    /// Returns a limit that adapts to the number of concurrent requests that the upstream handles without queueing.
    ///
    /// The limit falls when the latency exceeds its baseline, the latency without queueing, by more than the tolerance. It also
    /// falls when the upstream is overloaded: a request times out, the upstream is unreachable, the connection breaks, or the
    /// status is 429, 503 or 504. It rises while responses are fast and the limit is fully used. To measure the baseline anew,
    /// concurrency is briefly reduced to half or less from time to time; at a limit of 20, about once in 2,000 requests.
    ///
    /// - Parameters:
    ///   - range: The range of the limit, from 1 to 1,000,000,000.
    ///   - start: The initial limit, clamped to the range.
    ///   - tolerance: The highest tolerated ratio of the latency to its baseline, from 1 to 10. Choose a higher value if
    ///     latencies vary widely.
    /// - Returns: The limit.
    public static func adaptive(
        in range: ClosedRange<Int> = 1...200,
        from start: Int = 20,
        tolerance: Double = 1.5
    ) -> Self {
        Self(rule: .adaptive(AdaptiveLimit(in: range, from: start, tolerance: tolerance)))
    }

    /// The current limit.
    var count: Int {
        switch rule {
        case .fixed(let count): count
        case .adaptive(let limit): limit.limit
        }
    }

    /// Whether the limit depends on the outcomes of requests.
    var isAdaptive: Bool {
        switch rule {
        case .fixed: false
        case .adaptive: true
        }
    }

    /// Records the outcome of a request and returns the new limit.
    mutating func record(
        _ outcome: AdaptiveLimit.Outcome,
        from start: Duration,
        to end: Duration,
        underWay: Int
    ) -> Int {
        guard case .adaptive(var limit) = rule else { return count }
        limit.record(outcome, from: start, to: end, underWay: underWay)
        rule = .adaptive(limit)
        return limit.limit
    }
}

/// An algorithm for a ``ConcurrencyLimit`` that derives the limit from latencies: a value without a clock.
///
/// When latency exceeds the latency without queueing, requests queue somewhere in the upstream, and more concurrency would only
/// make them wait longer. So the limit follows the ratio of the two latencies, plus some headroom while nothing queues. From
/// time to time, a probe measures the latency without queueing: it halves the concurrency until that makes no difference.
struct AdaptiveLimit: Hashable, Sendable {
    /// The information from a request that ended.
    enum Outcome {
        /// The upstream responded, so the latency counts.
        case answered
        /// The upstream was overloaded.
        case overloaded
        /// The request says nothing about the load.
        case untold
    }

    /// Requests that began and ended within the same period, about as many as the limit.
    private struct Window: Hashable {
        let start: Duration
        var count = 0
        var total = Duration.zero
        var maximumUnderWay = 0
    }

    /// The upper bound of every limit, which floating-point numbers represent exactly.
    static let most = 1_000_000_000
    /// The minimum number of requests in a window, so that a single one does not dominate.
    private static let leastCount = 10
    /// The number of windows between measurements of the latency without queueing.
    private static let windowsBetweenProbes = 100
    /// The fraction of a change that is applied at once.
    private static let smoothing = 0.2
    /// The ratio of new to previous latency below which halving the concurrency made a difference.
    private static let difference = 0.9
    /// The factor by which the limit shrinks on overload.
    private static let backoff = 0.9

    private let range: ClosedRange<Int>
    private let tolerance: Double
    private var estimate: Double
    /// The highest estimate since the last probe.
    private var highest: Double
    /// The latency without queueing in seconds; `nil` until it is known.
    private var baseline: Double?
    /// The latency in seconds before concurrency was reduced for a probe; `nil` outside a probe.
    private var probed: Double?
    /// The divisor of the estimate during a probe.
    private var divisor = 1
    /// One at first, because it is unknown whether requests queue.
    private var windowsUntilProbe = 1
    private var window = Window(start: .zero)

    init(in range: ClosedRange<Int>, from start: Int, tolerance: Double) {
        self.range = range.clamped(to: 1...Self.most)
        self.tolerance = tolerance >= 1 ? min(tolerance, 10) : 1
        estimate = Double(min(max(start, self.range.lowerBound), self.range.upperBound))
        highest = estimate
    }

    /// The current limit.
    var limit: Int {
        max(range.lowerBound, Int(estimate) / divisor)
    }

    /// Records the outcome of a request.
    ///
    /// - Parameters:
    ///   - outcome: The information from the request.
    ///   - start: The time at which the request was sent.
    ///   - end: The time at which the request ended.
    ///   - underWay: The number of concurrent requests at its end, including it.
    mutating func record(_ outcome: Outcome, from start: Duration, to end: Duration, underWay: Int) {
        // Requests sent before the window ran under an earlier limit.
        guard start >= window.start else { return }
        switch outcome {
        case .untold: return
        case .overloaded:
            estimate = bounded(estimate * Self.backoff)
            // Start a new window, so that requests under way do not report the same overload again.
            window = Window(start: end)
        case .answered:
            window.count += 1
            window.total += max(.zero, end - start)
            window.maximumUnderWay = max(window.maximumUnderWay, underWay)
            if window.count >= max(Self.leastCount, limit) { closeWindow(at: end) }
        }
    }

    private mutating func closeWindow(at end: Duration) {
        let latency = window.total / .seconds(window.count)
        let maximumUnderWay = window.maximumUnderWay
        window = Window(start: end)
        if let probed { return probe(latency, before: probed) }
        guard let baseline else {
            baseline = latency
            return
        }
        guard maximumUnderWay * 2 >= limit else {
            // With so little concurrency, no request queues.
            self.baseline = baseline + (latency - baseline) * Self.smoothing
            return
        }
        if latency < baseline { self.baseline = baseline + (latency - baseline) * Self.smoothing / 2 }
        follow(latency > 0 ? min(1, max(0.5, tolerance * baseline / latency)) : 1, isUsed: maximumUnderWay >= limit)
        windowsUntilProbe -= 1
        // If halving the limit has not helped, latency may have risen for other reasons.
        if windowsUntilProbe <= 0 || estimate < highest / 2 { beginProbe(latency) }
    }

    private mutating func beginProbe(_ latency: Double) {
        probed = latency
        divisor = 2
    }

    private mutating func probe(_ latency: Double, before: Double) {
        if latency < before * Self.difference, limit > range.lowerBound {
            probed = latency
            divisor *= 2
        } else {
            probed = nil
            divisor = 1
            baseline = latency
            highest = estimate
            windowsUntilProbe = Self.windowsBetweenProbes
        }
    }

    private mutating func follow(_ gradient: Double, isUsed: Bool) {
        let target = estimate * gradient + estimate.squareRoot()
        guard target <= estimate || isUsed else { return }
        estimate = bounded(estimate + (target - estimate) * Self.smoothing)
        highest = max(highest, estimate)
    }

    private func bounded(_ estimate: Double) -> Double {
        min(max(estimate, Double(range.lowerBound)), Double(range.upperBound))
    }
}
