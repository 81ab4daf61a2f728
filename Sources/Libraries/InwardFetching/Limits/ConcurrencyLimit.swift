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
