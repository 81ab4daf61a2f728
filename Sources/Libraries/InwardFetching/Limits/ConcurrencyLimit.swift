/// How many requests may be under way at once: a number, or one that is found by how the source takes it.
public struct ConcurrencyLimit: Hashable, Sendable {
    private enum Rule: Hashable {
        case fixed(Int)
        case adaptive(AdaptiveLimit)
    }

    private var rule: Rule

    /// So many, whatever happens.
    ///
    /// - Parameter count: How many; at least 1, and what is less counts as that.
    /// - Returns: the limit.
    public static func fixed(_ count: Int) -> Self { Self(rule: .fixed(max(1, count))) }

    /// As many as the source answers without making them wait for one another.
    ///
    /// The limit falls when answers take longer than they do without waiting, by more than is tolerated, and when the source
    /// is overloaded: it does not answer in time, breaks off, or says so (429, 503, 504). It rises while answers are quick and
    /// as many are under way as it allows. How long an answer takes without waiting is measured anew about once in 100 times
    /// the limit, by letting half as many go, or fewer, for a moment.
    ///
    /// - Parameters:
    ///   - range: The least and the most that it can be, from 1 to 1,000,000,000.
    ///   - start: What it is at first, as far as that is in the range.
    ///   - tolerance: How many times as long an answer may take as it does without waiting, from 1 to 10. The more answers
    ///     differ from one another, the more is to be tolerated.
    /// - Returns: the limit.
    public static func adaptive(
        in range: ClosedRange<Int> = 1...200,
        from start: Int = 20,
        tolerance: Double = 1.5
    ) -> Self {
        Self(rule: .adaptive(AdaptiveLimit(in: range, from: start, tolerance: tolerance)))
    }

    /// How many may be under way now.
    var count: Int {
        switch rule {
        case .fixed(let count): count
        case .adaptive(let limit): limit.limit
        }
    }

    /// Whether it has to be told how requests go.
    var isAdaptive: Bool {
        switch rule {
        case .fixed: false
        case .adaptive: true
        }
    }

    /// Takes into account how a request went, and says how many may be under way from then on.
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

/// Finds from how long requests take how many may be under way: a value without a clock, for a ``ConcurrencyLimit``.
///
/// What takes longer than it does without waiting waits somewhere in the source, and more at a time would only wait longer. So
/// the limit follows the ratio of the two, and takes a little more as long as nothing waits. How long it takes without waiting
/// is measured now and then, while half as many are under way, or half of that, until that makes no difference.
struct AdaptiveLimit: Hashable, Sendable {
    /// What a request that ended tells.
    enum Outcome {
        /// How long an answer takes.
        case answered
        /// That it was too much.
        case overloaded
        /// Nothing.
        case untold
    }

    /// Requests that began and ended within the same stretch of time, about as many as are under way at once.
    private struct Window: Hashable {
        let start: Duration
        var count = 0
        var total = Duration.zero
        var maximumUnderWay = 0
    }

    /// What no limit exceeds, so that numbers with a fraction count it exactly.
    static let most = 1_000_000_000
    /// How many requests a window has at least, so that a single one does not count for too much.
    private static let leastCount = 10
    /// After how many windows it is measured anew what a request takes without waiting.
    private static let windowsBetweenProbes = 100
    /// How much of a change is made at once.
    private static let smoothing = 0.2
    /// What part of the time it took before a request has to take where half as many make a difference.
    private static let difference = 0.9
    /// What is left of the limit when it was too much.
    private static let backoff = 0.9

    private let range: ClosedRange<Int>
    private let tolerance: Double
    private var estimate: Double
    /// The highest estimate since the last probe.
    private var highest: Double
    /// How many seconds a request takes without waiting; `nil` as long as that is not known.
    private var baseline: Double?
    /// How many seconds a request took before fewer were under way, to measure; `nil` while that is not done.
    private var probed: Double?
    /// By what the estimate is divided to measure.
    private var divisor = 1
    /// Soon at first, when it is not known whether requests wait.
    private var windowsUntilProbe = 1
    private var window = Window(start: .zero)

    init(in range: ClosedRange<Int>, from start: Int, tolerance: Double) {
        self.range = range.clamped(to: 1...Self.most)
        self.tolerance = tolerance >= 1 ? min(tolerance, 10) : 1
        estimate = Double(min(max(start, self.range.lowerBound), self.range.upperBound))
        highest = estimate
    }

    /// How many may be under way now.
    var limit: Int {
        max(range.lowerBound, Int(estimate) / divisor)
    }

    /// Takes into account how a request went.
    ///
    /// - Parameters:
    ///   - outcome: What it tells.
    ///   - start: When it was sent.
    ///   - end: When it ended.
    ///   - underWay: How many were under way when it ended, together with it.
    mutating func record(_ outcome: Outcome, from start: Duration, to end: Duration, underWay: Int) {
        // What was sent before the window tells of an earlier limit.
        guard start >= window.start else { return }
        switch outcome {
        case .untold: return
        case .overloaded:
            estimate = bounded(estimate * Self.backoff)
            // Those that are under way do not tell the same again.
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
            // So few are under way that none waits for another.
            self.baseline = baseline + (latency - baseline) * Self.smoothing
            return
        }
        if latency < baseline { self.baseline = baseline + (latency - baseline) * Self.smoothing / 2 }
        follow(latency > 0 ? min(1, max(0.5, tolerance * baseline / latency)) : 1, isUsed: maximumUnderWay >= limit)
        windowsUntilProbe -= 1
        // Where half of it has not helped, requests may take longer for a reason of their own.
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
